// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_words.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(KernelWords, HasPartsInAnyCase) {
  const KernelWords name("void Cutlass::Kernel<cutlass_80_TensorOp_s16816gemm>(int)");
  EXPECT_TRUE(name.Has("tensorop"));
  EXPECT_TRUE(name.Has("s16816gemm>"));
  EXPECT_TRUE(name.Has("nt"));  // shorter than what is looked up
  EXPECT_FALSE(name.Has("tensorops"));
  EXPECT_FALSE(name.Has("zz"));
  EXPECT_TRUE(name.HasAny({"fmha", "int)"}));
  EXPECT_FALSE(name.HasAny({"fmha", "intx"}));
  EXPECT_TRUE(name.StartsWith("void cutlass"));
}

// Each of the parts' trigrams is there, and the part is not.
TEST(KernelWords, HasNoPartOfScatteredTrigrams) {
  const KernelWords name("gem_emm_gemm_mma");
  EXPECT_TRUE(name.Has("gemm"));
  EXPECT_FALSE(name.Has("gemma"));
  EXPECT_FALSE(KernelWords("gem emm").Has("gemm"));
}

TEST(KernelWords, KnowsWordsBetweenPunctuation) {
  const KernelWords name("Cijk_Alik_Bljk_HHS_BH_MT128x64");
  EXPECT_TRUE(name.HasWord("hhs"));
  EXPECT_FALSE(name.HasWord("hh"));
  EXPECT_TRUE(name.HasAnyWord({"mma", "mt128x64"}));
  EXPECT_EQ(name.WordAfter("cijk", 3), "hhs");
  EXPECT_EQ(name.WordAfter("bh"), "mt128x64");
  EXPECT_EQ(name.WordAfter("mt128x64"), "");
  EXPECT_EQ(name.WordAfter("bh", 7), "");
  EXPECT_EQ(name.WordAfter("nothing"), "");
  const WordPattern tile("mt\\d+x\\d+"), shorter("mt\\d+x\\d"), either("x|cijk");
  EXPECT_TRUE(name.HasWordLike(tile));
  EXPECT_FALSE(name.HasWordLike(shorter));
  EXPECT_TRUE(name.HasWordLike(either));
}

TEST(KernelWords, LeavesOutWhatOnlyLooksLikeMatrixWork) {
  const KernelWords name("fbgemm_gpu::split<cutlass::half_t, cublasGemmExParams>");
  EXPECT_FALSE(name.Has("gemm_"));
  EXPECT_FALSE(name.Has("cutlass"));
  EXPECT_TRUE(name.HasWord("half"));
  EXPECT_TRUE(name.Has("exparams"));
}

TEST(KernelWords, HasNoWordsWhereItIsMangled) {
  const KernelWords name("_ZN7cutlass6KernelINS_4gemmEEE");
  EXPECT_TRUE(name.mangled());
  EXPECT_TRUE(name.Has("gemm"));
  EXPECT_FALSE(name.HasWord("zn7cutlass6kernelins"));
}

}  // namespace
}  // namespace dladvisor

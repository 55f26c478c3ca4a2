// SPDX-License-Identifier: Apache-2.0
#include "src/render/escape.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(Visible, ShowsWhatDoesNotShow) {
  EXPECT_EQ(Visible("plain ünïcode ✓"), "plain ünïcode ✓");
  EXPECT_EQ(Visible("a\x1b[31mb"), "a␛[31mb");
  EXPECT_EQ(Visible(std::string_view("a\0b\n\t\x7f", 6)), "a␀b␊␉␡");
  EXPECT_EQ(Visible("\xE2\x80\xAE"
                    "evil"),
            "<U+202E>evil");
  EXPECT_EQ(Visible("\xC2\x9B"
                    "31m"),
            "<U+009B>31m");
  EXPECT_EQ(Visible("\xEF\xBB\xBF"), "<U+FEFF>");
  EXPECT_EQ(Visible("\xff\xc0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Visible, KeepsTheLinesOfAMessage) {
  EXPECT_EQ(VisibleLines(""), "");
  EXPECT_EQ(VisibleLines("a table \x1b[31m\n  look\n"), "a table ␛[31m\n  look\n");
}

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(EscapeHtml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(EscapeHtml("\xE2\x80\xAE"), "&lt;U+202E&gt;");
}

TEST(EscapeMarkdown, LeavesNoMarkup) {
  EXPECT_EQ(EscapeMarkdown("a|b`c*d_e[f](g)<h>@i\n"), "a&#124;b\\`c\\*d\\_e\\[f\\](g)&lt;h&gt;&#64;i␊");
}

TEST(EscapeMarkdown, MakesNoLinks) {
  EXPECT_EQ(EscapeMarkdown("see http://x a: b"), "see http&#58;//x a: b");
}

TEST(Prose, TurnsBackticksIntoCodeAndFoldsLines) {
  EXPECT_EQ(ProseHtml(" use `a<b>`\n  now \n"), "use <code>a&lt;b&gt;</code> now");
  EXPECT_EQ(ProseHtml("one ` alone"), "one ` alone");
  EXPECT_EQ(ProseMarkdown("`a|b`"), "<code>a&#124;b</code>");
}

TEST(Prose, KeepsUnitsOnTheLineOfTheirNumbers) {
  EXPECT_EQ(ProseHtml("takes 3.5 ms (20 %), 4 steps"), "takes 3.5\u00A0ms (20\u00A0%), 4 steps");
  EXPECT_EQ(ProseHtml("4 slow, 2 s."), "4 slow, 2\u00A0s.");
  EXPECT_EQ(ProseMarkdown("3.5 ms"), "3.5 ms");
}

TEST(Ellipsize, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(Ellipsize("short", 8), "short");
  EXPECT_EQ(Ellipsize("abcdefghijklmnop", 10), "abc…klmnop");
  EXPECT_EQ(Columns(Ellipsize("äöüäöüäöüäöüäöü", 9)), 9u);
}

}  // namespace
}  // namespace dladvisor

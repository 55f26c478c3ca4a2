// SPDX-License-Identifier: Apache-2.0
// Talks to `dladvisor mcp` through the protocol's own client libraries, and prints "ok" where all answers are
// as they must be.
//
//   node mcp_client.mjs MODULES PROGRAM PROFILE OTHER_PROFILE
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, program, profile, other] = process.argv.slice(2);
const resolve = createRequire(modules + "/x.js").resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const mostBytes = 14000;

async function text(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, ...options);
  assert.equal(result.content.length, 1);
  assert.ok(Buffer.byteLength(result.content[0].text) <= mostBytes, `${name}: too long`);
  return { text: result.content[0].text, isError: result.isError === true };
}

// What both eras of the protocol have; `options` are what follows the parameters of callTool.
async function tryTools(client, options) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["report", "explain", "query", "facts", "rules", "compare"]);
  for (const tool of tools) assert.equal(tool.inputSchema.type, "object");
  const call = (name, args) => text(client, name, args, options);

  const report = JSON.parse((await call("report", { profile })).text);
  assert.match(report.headline, /are lost/);
  assert.match(report.first, /^cpu-launch-starvation\//);
  assert.ok(report.undecided.length > 0);
  const rest = JSON.parse((await call("report", { profile, skip: report.findings.length })).text);
  assert.ok(!rest.findings.some((finding) => finding.ids[0] === report.first));

  const explained = await call("explain", { profile, rule: "cpu-launch-starvation" });
  assert.match(explained.text, /rank 0, device 0: fired/);

  const count = await call("query", { profile, sql: "SELECT count(*) AS n FROM kernel" });
  assert.equal(count.text, "1 rows\nn\n77767\n");
  const first = await call("query", { profile, sql: "kernel" });
  const second = await call("query", { profile, sql: "kernel", page: 2 });
  assert.match(first.text, /\(page 1 of \d+; the next one: page 2\)\n$/);
  assert.equal(first.text.split("\n")[1], second.text.split("\n")[1]);  // names of columns
  assert.notEqual(first.text.split("\n")[2], second.text.split("\n")[2]);

  assert.match((await call("facts", {})).text, /^run /m);
  assert.match((await call("facts", { relation: "gpu" })).text, /idle_share/);
  assert.match((await call("rules", { search: "cpu-launch" })).text, /^cpu-launch-starvation /);
  assert.match((await call("rules", { rule: "cpu-launch-starvation" })).text, /\nid: cpu-launch-starvation\n/);
  assert.match((await call("compare", { before: profile, after: other })).text, /dladvisor/);

  // What an agent can put right is an answer that says how.
  for (const [name, args, message] of [
    ["report", { profile: "none.sqlite" }, /none\.sqlite/],
    ["report", {}, /profile: is missing/],
    ["report", { profile: 7 }, /wrong type/],
    ["report", { profil: profile }, /did you mean profile\?/],
    ["report", { profile: "-" }, /is not a file/],
    ["query", { profile, sql: "SELECT idle_shar FROM gpu" }, /idle_share/],
    ["query", { profile, sql: "DELETE FROM gpu" }, /./],
    ["query", { profile, sql: "gpu", page: 9 }, /page 9: is not there/],
    ["explain", { profile, rule: "cpu-launch-starvatio" }, /did you mean cpu-launch-starvation\?/],
    ["facts", { relation: "gpus" }, /did you mean gpu\?/],
  ]) {
    const answer = await call(name, args);
    assert.ok(answer.isError, `${name} ${JSON.stringify(args)}`);
    assert.match(answer.text, message);
  }
  await assert.rejects(client.callTool({ name: "none", arguments: {} }, ...options), (error) => error.code === -32602);
}

async function tryProgress(client, options) {
  const parts = [];
  await client.callTool({ name: "report", arguments: { profile: other } },
    ...options({ onprogress: (progress) => parts.push(progress) }));
  assert.ok(parts.length >= 3, "progress");
  assert.ok(parts.every((part, i) => i === 0 || part.progress > parts[i - 1].progress));
  // Cancelled, its answer is not sent; the server goes on.
  const abort = new AbortController();
  const cancelled = client.callTool({ name: "report", arguments: { profile, steps: "0:5" } },
    ...options({ signal: abort.signal }));
  setTimeout(() => abort.abort("enough"), 20);
  await assert.rejects(cancelled);
}

{
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp"] }));
  assert.equal(client.getServerVersion().name, "dladvisor");
  await client.ping();
  await tryTools(client, []);
  await tryProgress(client, (more) => [undefined, more]);
  await client.ping();
  await client.close();
}
{
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp"] }));
  await tryTools(client, []);
  await tryProgress(client, (more) => [more]);
  await client.close();
}
console.log("ok");

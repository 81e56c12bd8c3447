// The clients that the protocol's makers publish, on `nl-stage mcp` over stdin and stdout. Prints a line for each check that fails, and the sum.
//   node clients.mjs CLIENTS NL_STAGE FOLDER     CLIENTS: what tools/fetch-mcp-clients prints; FOLDER has a bundle named "bundle"
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [clients, program, folder] = process.argv.slice(2);
const require = createRequire(`${clients}/package.json`);
// Of a module that is CommonJS the names may be members of its default.
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)).href);
  return { ...module.default, ...module };
};

const command = { command: program, args: ["mcp", "--root", folder], cwd: folder, env: { ...process.env, NL_STAGE_LEDGER: `${folder}/ledger.sqlite` }, stderr: "inherit" };
let passed = 0;
let failed = 0;

async function check(name, run) {
  try {
    await run();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error?.stack ?? error}`);
  }
}

// What both clients do alike.
async function useServer(client) {
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "whatif"));
  assert.ok(!tools.some((tool) => tool.name === "run"));
  const found = await client.callTool({ name: "ledger_search", arguments: {} });
  assert.equal(found.structuredContent.runs.length, 1);
  assert.deepEqual(JSON.parse(found.content[0].text), found.structuredContent);
  const wrong = await client.callTool({ name: "whatif", arguments: { run: "/etc/passwd" } });
  assert.equal(wrong.isError, true);
  await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), (error) => error.code === -32602);
  const { resources } = await client.listResources();
  assert.equal(resources.length, 2);
  const report = await client.readResource({ uri: resources[0].uri });
  assert.match(report.contents[0].text, /^# /);
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 3);
  await assert.rejects(client.readResource({ uri: "nl-stage://run/last/nonsense" }));
}

async function newClient(mode, expected) {
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "nl-stage-test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(command));
  assert.equal(client.getNegotiatedProtocolVersion(), expected);
  await useServer(client);
  await client.close();
}

await check("client 2.4, the revision of 2026-07-28", () => newClient({ pin: "2026-07-28" }, "2026-07-28"));
await check("client 2.4, what both speak", () => newClient("auto", "2026-07-28"));
await check("client 2.4, the older revision", () => newClient("legacy", "2025-11-25"));
await check("sdk 1.32", async () => {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "nl-stage-test", version: "1" });
  await client.connect(new StdioClientTransport(command));
  assert.equal(client.getServerVersion().name, "nl-stage");
  await client.ping();
  await useServer(client);
  const stop = new AbortController();
  const call = client.callTool({ name: "doctor", arguments: {} }, undefined, { signal: stop.signal });
  stop.abort();
  await assert.rejects(call);
  await client.ping();
  await client.close();
});
console.log(`nl-tests: ${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed === 0 ? 0 : 1);

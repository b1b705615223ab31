// Independent clients: Slack's own speaks to the server that our tests use, which shows that it is
// true to the protocol; nodemailer writes mail that we read, postal-mime reads mail that we wrote.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { WebClient } from "@slack/web-api";
import nodemailer from "nodemailer";
import PostalMime from "postal-mime";

const binary = process.env.SERVER;
const here = dirname(fileURLToPath(import.meta.url));
const token = "xoxb-not-a-real-token-1";

async function withServer(use) {
  const child = spawn("python3", [join(here, "accounts_server.py"), token], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const port = await new Promise((resolve) => child.stdout.once("data", (d) => resolve(+d)));
    await use(`http://127.0.0.1:${port}/api/`);
  } finally {
    child.stdin.end();
    await new Promise((resolve) => child.once("exit", resolve));
  }
}

const client = (slackApiUrl, given) =>
  new WebClient(given, { slackApiUrl, retryConfig: { retries: 0 }, logLevel: "error" });

test("Slack's own client accepts the server of our tests", () =>
  withServer(async (url) => {
    const slack = client(url, token);
    const me = await slack.auth.test();
    assert.equal(me.team, "Mice & Men");
    const seen = [];
    for await (const page of slack.paginate("conversations.list", { limit: 3 }))
      seen.push(...page.channels);
    assert.equal(seen.length, 7);
    const sent = await slack.chat.postMessage({ channel: seen[0].id, text: "héllo" });
    assert.equal(sent.message.text, "héllo");
    await assert.rejects(
      client(url, "xoxb-another-token-12345").auth.test(),
      (e) => e.data.error === "invalid_auth",
    );
    await assert.rejects(
      slack.chat.postMessage({ channel: "C404", text: "x" }),
      (e) => e.data.error === "channel_not_found",
    );
  }));

const subjects = [
  "Hello",
  "Grüße aus Köln",
  "日本語の件名がとても長いとき、何行にもなるはずです。そうですよね、きっとそうです。",
  "emoji 🐭 and a long tail of plain words that goes on and on until the line has to be folded",
];
const bodies = [
  "plain\ntext\n",
  "Grüße\n\nand a line that is far longer than seventy-six characters, so that it has to be cut\n",
  "日本語\n",
];

test("mail that nodemailer writes is read", async () => {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });
  for (const subject of subjects)
    for (const text of bodies) {
      const { message } = await transport.sendMail({
        from: "Jürgen Müller <j@example.org>",
        to: "ada@example.org",
        subject,
        text,
        html: `<p>${text}</p>`,
        attachments: [{ filename: "Übersicht.pdf", content: Buffer.alloc(5000, 7) }],
      });
      const read = JSON.parse(spawnSync(binary, ["read"], { input: message }).stdout);
      assert.equal(read.subject, subject);
      assert.equal(read.from, "Jürgen Müller <j@example.org>");
      assert.equal(read.text, text.trim());
      assert.deepEqual(read.attachments, [
        { name: "Übersicht.pdf", type: "application/pdf", bytes: 5000 },
      ]);
    }
});

test("mail that we write is read by postal-mime", async () => {
  for (const subject of subjects)
    for (const text of bodies) {
      const { stdout, status } = spawnSync(
        binary,
        ["write", "Jürgen Müller <j@example.org>", subject],
        { input: text },
      );
      assert.equal(status, 0);
      const read = await PostalMime.parse(stdout);
      assert.equal(read.subject, subject);
      assert.deepEqual(
        read.to.map(({ name, address }) => ({ name, address })),
        [{ name: "Jürgen Müller", address: "j@example.org" }],
      );
      assert.equal(read.text.trim(), text.trim());
    }
});

// The providers against servers that the companies' own clients accept: npm's openai and
// @anthropic-ai/sdk read a stream first, then ours reads the same one, and they must agree.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import test, { after, before } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { startMock } from "./model_mock.mjs";

const binary = process.env.SERVER;
let mock;

before(async () => {
  mock = await startMock();
});
after(() => mock.close());

const tools = [
  {
    name: "fs__list",
    description: "Lists a directory",
    input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

function ours(provider, model, request = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [], { stdio: ["pipe", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (part) => (text += part));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`model-main ended with ${code}`));
      const lines = text.trim().split("\n").map((line) => JSON.parse(line));
      const last = lines.pop();
      resolve({ ...last, deltas: lines });
    });
    child.stdin.end(
      JSON.stringify({
        spec: {
          provider,
          base_url: provider === "openai" ? `${mock.url}/v1` : mock.url,
          model,
          secret: "sk-secret-for-tests",
        },
        request: { messages: [{ role: "user", text: "Hello" }], ...request },
      }),
    );
  });
}

const joined = (answer, kind) =>
  answer.deltas.filter((line) => line.delta === kind).map((line) => line.text).join("");

// ---- Chat Completions ----

const openai = () => new OpenAI({ apiKey: "sk-secret-for-tests", baseURL: `${mock.url}/v1`, maxRetries: 0 });

const openaiStops = { stop: "end", tool_calls: "calls", length: "length", content_filter: "filter" };

for (const model of ["text", "tools", "length", "filter"])
  test(`openai's own client and ours agree on ${model}`, async () => {
    const theirs = await openai().chat.completions.create({
      model, stream: true, stream_options: { include_usage: true },
      messages: [{ role: "user", content: "Hello" }],
    });
    let text = "", finish, usage;
    const calls = [];
    for await (const chunk of theirs) {
      if (chunk.usage) usage = chunk.usage;
      const choice = chunk.choices[0];
      if (!choice) continue;
      text += choice.delta.content ?? "";
      finish = choice.finish_reason ?? finish;
      for (const piece of choice.delta.tool_calls ?? []) {
        calls[piece.index] ??= { id: "", name: "", arguments: "" };
        calls[piece.index].id += piece.id ?? "";
        calls[piece.index].name += piece.function?.name ?? "";
        calls[piece.index].arguments += piece.function?.arguments ?? "";
      }
    }
    const answer = await ours("openai", model);
    assert.ok(answer.reply, JSON.stringify(answer.error));
    assert.equal(answer.reply.text, text);
    assert.equal(joined(answer, "text"), text);
    assert.equal(answer.reply.stop, openaiStops[finish]);
    assert.equal(answer.reply.input_tokens, usage.prompt_tokens);
    assert.equal(answer.reply.output_tokens, usage.completion_tokens);
    assert.equal(answer.reply.cached_tokens, usage.prompt_tokens_details.cached_tokens);
    assert.deepEqual(
      answer.reply.calls,
      calls.map((call) => ({ ...call, problem: "" })),
    );
  });

test("openai's own accumulator accepts the stream that ours reads", async () => {
  const whole = await openai()
    .chat.completions.stream({ model: "tools", messages: [{ role: "user", content: "Hello" }] })
    .finalChatCompletion();
  const { reply } = await ours("openai", "tools");
  assert.deepEqual(
    reply.calls.map(({ id, name, arguments: text }) => ({ id, type: "function", function: { name, arguments: text } })),
    whole.choices[0].message.tool_calls.map(({ id, type, function: f }) => ({
      id, type, function: { name: f.name, arguments: f.arguments },
    })),
  );
});

test("a conversation with tools is written as openai's client sends it", async () => {
  const messages = [
    { role: "system", content: "Be kind." },
    { role: "user", content: "look" },
    {
      role: "assistant", content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "fs__list", arguments: '{"path":"."}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "a\nb" },
  ];
  const asked = tools.map(({ name, description, input_schema: parameters }) => ({
    type: "function", function: { name, description, parameters },
  }));
  await (await openai().chat.completions.create({
    model: "text", stream: true, stream_options: { include_usage: true }, messages, tools: asked, max_tokens: 50,
  })).toReadableStream().cancel();
  const theirs = mock.seen.at(-1);
  await ours("openai", "text", {
    system: "Be kind.", tools, max_output_tokens: 50,
    messages: [
      { role: "user", text: "look" },
      { role: "assistant", text: "", calls: [{ id: "c1", name: "fs__list", arguments: '{"path":"."}' }] },
      { role: "tool", call_id: "c1", tool_name: "fs__list", text: "a\nb" },
    ],
  });
  const mine = mock.seen.at(-1);
  assert.notEqual(mine, theirs);
  assert.deepEqual(mine.body, theirs.body);
  assert.equal(mine.url, theirs.url);
  assert.equal(mine.headers.authorization, theirs.headers.authorization);
});

// ---- Messages ----

const anthropic = () => new Anthropic({ apiKey: "sk-secret-for-tests", baseURL: mock.url, maxRetries: 0 });

const anthropicStops = { end_turn: "end", tool_use: "calls", max_tokens: "length", refusal: "filter" };

function ask(model) {
  return anthropic()
    .messages.stream({ model, max_tokens: 100, messages: [{ role: "user", content: "Hello" }] })
    .finalMessage();
}

for (const model of ["text", "thinking", "refusal", "length"])
  test(`anthropic's own client and ours agree on ${model}`, async () => {
    const theirs = await ask(model);
    const answer = await ours("anthropic", model);
    assert.ok(answer.reply, JSON.stringify(answer.error));
    const of = (type) => theirs.content.filter((block) => block.type === type);
    assert.equal(answer.reply.text, of("text").map((block) => block.text).join(""));
    assert.equal(joined(answer, "text"), answer.reply.text);
    assert.equal(answer.reply.thinking, of("thinking").map((block) => block.thinking).join(""));
    assert.equal(joined(answer, "thinking"), answer.reply.thinking);
    assert.equal(answer.reply.stop, anthropicStops[theirs.stop_reason]);
    assert.equal(answer.reply.output_tokens, theirs.usage.output_tokens);
    const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = theirs.usage;
    assert.equal(answer.reply.input_tokens, fresh + read + written);
    assert.equal(answer.reply.cached_tokens, read);
    assert.deepEqual(
      answer.reply.calls.map((call) => ({ id: call.id, name: call.name, input: JSON.parse(call.arguments) })),
      of("tool_use").map(({ id, name, input }) => ({ id, name, input })),
    );
  });

test("a turn with thinking goes back as anthropic's client would send it", async () => {
  const theirs = await ask("thinking");
  const { reply } = await ours("anthropic", "thinking");
  await ours("anthropic", "text", {
    system: "Be kind.", tools,
    messages: [
      { role: "user", text: "Hello" },
      {
        role: "assistant", text: reply.text, opaque: reply.opaque,
        calls: reply.calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
      },
      { role: "tool", call_id: "toolu_01", text: "a" },
      { role: "tool", call_id: "toolu_02", text: "failed", failed: true },
    ],
  });
  const mine = mock.seen.at(-1);
  // What the documents ask for: the content as it came, unchanged.
  await anthropic()
    .messages.stream({
      model: "text", max_tokens: 8192,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      tools,
      messages: [
        { role: "user", content: [{ type: "text", text: "Hello" }] },
        { role: "assistant", content: theirs.content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_01", content: "a" },
            {
              type: "tool_result", tool_use_id: "toolu_02", content: "failed", is_error: true,
              cache_control: { type: "ephemeral" },
            },
          ],
        },
      ],
    })
    .finalMessage();
  const wanted = mock.seen.at(-1);
  assert.deepEqual(mine.body, wanted.body);
  assert.equal(mine.headers["anthropic-version"], wanted.headers["anthropic-version"]);
  assert.equal(mine.headers["x-api-key"], wanted.headers["x-api-key"]);
  assert.equal(mine.url, wanted.url);
});

// ---- refusals ----

const codes = {
  400: "context_too_long", 401: "secret_unavailable", 404: "model_not_allowed", 429: "rate_limited",
  500: "provider_failed",
};

for (const status of Object.keys(codes))
  test(`both clients take ${status} for an error, and ours says ${codes[status]}`, async () => {
    await assert.rejects(
      openai().chat.completions.create({ model: status, stream: true, messages: [{ role: "user", content: "x" }] }),
      (error) => error instanceof OpenAI.APIError && error.status === Number(status),
    );
    await assert.rejects(ask(status), (error) => error instanceof Anthropic.APIError && error.status === Number(status));
    for (const provider of ["openai", "anthropic"]) {
      const { error, deltas } = await ours(provider, status);
      assert.equal(error.code, codes[status], error.message);
      assert.deepEqual(deltas, []);
      assert.equal(error.retry_after_ms, status === "429" ? 77000 : -1);
      assert.ok(!error.message.includes("sk-secret"));
    }
  });

test("an overloaded server is a reason to wait", async () => {
  const { error } = await ours("anthropic", "529");
  assert.equal(error.code, "rate_limited");
});

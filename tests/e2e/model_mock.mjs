// Servers that speak the two protocols, as their documents describe them. What they say is scripted
// by the model's name in the request; what they were asked is kept for the tests. The companies'
// own clients read the same streams in the same tests, so these are not a copy of our reading.
import http from "node:http";

const sse = (event, data) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

// ---- Chat Completions ----

function chunk(model, delta, finish = null, more = {}) {
  return sse(null, {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1700000000,
    model,
    system_fingerprint: "fp_1",
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
    ...more,
  });
}

const usageChunk = (model, input, output, cached) =>
  sse(null, {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1700000000,
    model,
    choices: [],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  });

const toolDelta = (index, more) => ({ tool_calls: [{ index, ...more }] });

export const openaiStreams = {
  text: (m) =>
    chunk(m, { role: "assistant", content: "", refusal: null }) +
    chunk(m, { content: "Grüße, " }) +
    chunk(m, { content: "dormouse 🐭" }) +
    chunk(m, { content: "." }) +
    chunk(m, {}, "stop") +
    usageChunk(m, 12, 5, 8) +
    "data: [DONE]\n\n",
  tools: (m) =>
    chunk(m, { role: "assistant", content: null }) +
    chunk(m, toolDelta(0, { id: "call_a", type: "function", function: { name: "fs__list", arguments: "" } })) +
    chunk(m, toolDelta(0, { function: { arguments: '{"path":' } })) +
    chunk(m, toolDelta(0, { function: { arguments: '"src/a b"}' } })) +
    chunk(m, toolDelta(1, { id: "call_b", type: "function", function: { name: "bash", arguments: "" } })) +
    chunk(m, toolDelta(1, { function: { arguments: '{"command":"ls | wc \\"-l\\"","n":3}' } })) +
    chunk(m, {}, "tool_calls") +
    usageChunk(m, 40, 21, 0) +
    "data: [DONE]\n\n",
  length: (m) =>
    chunk(m, { role: "assistant", content: "So much" }) + chunk(m, {}, "length") + usageChunk(m, 3, 2, 0) +
    "data: [DONE]\n\n",
  filter: (m) =>
    chunk(m, { role: "assistant", content: "Well" }) + chunk(m, {}, "content_filter") +
    usageChunk(m, 3, 2, 0) + "data: [DONE]\n\n",
};

const openaiErrors = {
  401: { message: "Incorrect API key provided.", type: "invalid_request_error", param: null, code: "invalid_api_key" },
  404: { message: "The model `x` does not exist", type: "invalid_request_error", param: null, code: "model_not_found" },
  400: {
    message: "This model's maximum context length is 10 tokens.",
    type: "invalid_request_error", param: "messages", code: "context_length_exceeded",
  },
  429: { message: "Rate limit reached", type: "requests", param: null, code: "rate_limit_exceeded" },
  500: { message: "The server had an error", type: "server_error", param: null, code: null },
};

// ---- Messages ----

const start = (model) =>
  sse("message_start", {
    type: "message_start",
    message: {
      id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, cache_creation_input_tokens: 4, cache_read_input_tokens: 30, output_tokens: 1 },
    },
  }) + sse("ping", { type: "ping" });
const begin = (index, content_block) =>
  sse("content_block_start", { type: "content_block_start", index, content_block });
const delta = (index, more) => sse("content_block_delta", { type: "content_block_delta", index, delta: more });
const end = (index) => sse("content_block_stop", { type: "content_block_stop", index });
const stop = (stop_reason, output_tokens) =>
  sse("message_delta", {
    type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens },
  }) + sse("message_stop", { type: "message_stop" });
const text = (index, ...parts) =>
  begin(index, { type: "text", text: "" }) +
  parts.map((part) => delta(index, { type: "text_delta", text: part })).join("") +
  end(index);

export const anthropicStreams = {
  text: (m) => start(m) + text(0, "Grüße, ", "dormouse 🐭", ".") + stop("end_turn", 7),
  thinking: (m) =>
    start(m) +
    begin(0, { type: "thinking", thinking: "", signature: "" }) +
    delta(0, { type: "thinking_delta", thinking: "Which " }) +
    delta(0, { type: "thinking_delta", thinking: "files?" }) +
    delta(0, { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h/+==" }) +
    end(0) +
    begin(1, { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4a" }) +
    end(1) +
    text(2, "I will look.") +
    begin(3, { type: "tool_use", id: "toolu_01", name: "fs__list", input: {} }) +
    delta(3, { type: "input_json_delta", partial_json: "" }) +
    delta(3, { type: "input_json_delta", partial_json: '{"path": "src' }) +
    delta(3, { type: "input_json_delta", partial_json: '/a b"}' }) +
    end(3) +
    begin(4, { type: "tool_use", id: "toolu_02", name: "bash", input: {} }) +
    delta(4, { type: "input_json_delta", partial_json: '{"command":"ls"}' }) +
    end(4) +
    stop("tool_use", 33),
  refusal: (m) => start(m) + text(0, "No") + stop("refusal", 2),
  length: (m) => start(m) + text(0, "So much") + stop("max_tokens", 2),
};

const anthropicErrors = {
  401: { type: "authentication_error", message: "invalid x-api-key" },
  404: { type: "not_found_error", message: "model: x" },
  400: { type: "invalid_request_error", message: "prompt is too long: 11 tokens > 10 maximum" },
  429: { type: "rate_limit_error", message: "This request would exceed the rate limit" },
  500: { type: "api_error", message: "Internal server error" },
  529: { type: "overloaded_error", message: "Overloaded" },
};

// ---- the server ----

export async function startMock() {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const asked = JSON.parse(body);
    seen.push({ url: request.url, headers: request.headers, body: asked });
    const anthropic = request.url.endsWith("/messages");
    const streams = anthropic ? anthropicStreams : openaiStreams;
    const status = Number(asked.model);
    if (status) {
      const error = (anthropic ? anthropicErrors : openaiErrors)[status];
      response.writeHead(status, { "content-type": "application/json", ...(status === 429 && { "retry-after": "77" }) });
      response.end(JSON.stringify(anthropic ? { type: "error", error } : { error }));
      return;
    }
    if (!asked.stream || !streams[asked.model]) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "this mock streams, and knows other models" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    // In pieces that respect neither events nor characters.
    const bytes = Buffer.from(streams[asked.model](asked.model));
    for (let at = 0; at < bytes.length; at += 61) response.write(bytes.subarray(at, at + 61));
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { seen, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

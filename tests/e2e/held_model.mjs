// A model that says what the test wants, when the test wants it: Chat Completions on loopback, whose
// answers stay open until they are ended. What happens in the middle of an answer needs no luck.
import http from "node:http";

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "held", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** One answer under way. */
class Answer {
  constructor(response) {
    this.response = response;
    response.writeHead(200, { "content-type": "text/event-stream" });
  }
  say(content) {
    this.response.write(chunk({ content }));
  }
  end() {
    this.response.end(chunk({}, "stop") + "data: [DONE]\n\n");
  }
}

export async function startHeld() {
  const come = [], awaited = [];
  const server = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const answer = new Answer(response);
      if (awaited.length) awaited.shift()(answer);
      else come.push(answer);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** The next question that comes, or has come. */
    next: () => new Promise((resolve) => (come.length ? resolve(come.shift()) : awaited.push(resolve))),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

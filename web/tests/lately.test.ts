// Parts of the page that come late.
import assert from "node:assert/strict";
import test from "node:test";
import { patiently } from "../src/ui/lately";

test("a part that does not come is asked for again, less and less often, until it does", async () => {
  const waits: number[] = [];
  let asked = 0;
  const part = await patiently(
    () => (++asked < 8 ? Promise.reject(new Error("away")) : Promise.resolve("here")),
    (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  );
  assert.deepEqual([part, asked, waits], ["here", 8, [500, 1000, 2000, 4000, 8000, 8000, 8000]]);
});

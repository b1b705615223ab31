// How long to wait before the next try: doubling from half a second to fifteen, a little apart so that
// many pages don't come back in the same moment.
export interface Backoff {
  next(): number;
  reset(): void;
}

export function backoff(random: () => number = Math.random, first = 500, most = 15000): Backoff {
  let tries = 0;
  return {
    next() {
      const whole = Math.min(most, first * 2 ** tries);
      tries++;
      return Math.round(whole * (0.75 + random() * 0.25));
    },
    reset() {
      tries = 0;
    },
  };
}

// The parts that views are made of.
export * from "./armed";
export * from "./basic";
export * from "./code";
export * from "./diff";
export * from "./here";
export * from "./kept";
export * from "./layer";
export * from "./seen";
export * from "./tabs";
export * from "./toast";
export * from "./tooltip";
export { cx } from "./cx";

/** Class names of what is there. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");

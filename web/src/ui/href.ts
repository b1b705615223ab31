// Addresses that come from elsewhere: which may be followed, and which pretend to be others.

const ENTITIES: Record<string, string> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", hellip: "…", mdash: "—", ndash: "–",
  rarr: "→", larr: "←", times: "×", euro: "€", middot: "·", bull: "•",
};
export function unescape(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, dec: string, hex: string, name: string) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = dec ? Number(dec) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

/** The address when it may be followed, else null. */
export function safeHref(href: string): string | null {
  // Browsers drop control characters and spaces before they look for the scheme.
  const text = unescape(href).replace(/[\u0000-\u0020\u007f-\u00a0]+/g, "");
  if (!/^(https?:\/\/|mailto:)/i.test(text)) return null;
  try {
    const { protocol, username, password } = new URL(text);
    if (username || password) return null; // https://your-bank@elsewhere
    return ["http:", "https:", "mailto:"].includes(protocol) ? text : null;
  } catch {
    return null;
  }
}

/** The host that a link leads to when its own text names another one. */
export function misleading(text: string, href: string): string | null {
  const said = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)/i.exec(text.trim());
  try {
    const host = new URL(href).hostname.replace(/^www\./, "");
    return said?.[1] && said[1].toLowerCase().replace(/^www\./, "") !== host ? host : null;
  } catch {
    return null;
  }
}

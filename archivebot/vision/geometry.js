// Gives the visible elements and texts of the page, parents first, at most so many.
(most) => {
  const DRAWN = new Set(["AUDIO", "BUTTON", "CANVAS", "EMBED", "HR", "IFRAME", "IMG", "INPUT", "METER", "OBJECT",
    "PROGRESS", "SELECT", "SVG", "TEXTAREA", "VIDEO"]);
  const records = [];
  // Rectangles are cut to what their container lets through, and to the page.
  const cut = (rect, clip) => [Math.max(rect.left, clip[0]), Math.max(rect.top, clip[1]),
    Math.min(rect.right, clip[2]), Math.min(rect.bottom, clip[3])];
  const shifted = (rect) => ({left: rect.left + scrollX, top: rect.top + scrollY,
    right: rect.right + scrollX, bottom: rect.bottom + scrollY});
  const page = document.documentElement;
  const stack = [[document.body, -1, "/html[1]/body[1]", [0, 0, Math.max(page.scrollWidth, innerWidth),
    Math.max(page.scrollHeight, innerHeight)]]];
  const range = document.createRange();
  while (document.body && stack.length && records.length < most) {
    const [node, up, path, clip] = stack.pop();
    if (node.nodeType === Node.TEXT_NODE) {
      if (!node.data.trim()) continue;
      range.selectNodeContents(node);
      const box = cut(shifted(range.getBoundingClientRect()), clip);
      if (box[2] <= box[0] || box[3] <= box[1]) continue;
      const style = getComputedStyle(node.parentElement || node.getRootNode().host);
      if (style.visibility !== "visible") continue;
      records.push({up, tag: "", path, box, text: node.data, size: parseFloat(style.fontSize),
        weight: parseInt(style.fontWeight), inline: true});
      continue;
    }
    const style = getComputedStyle(node);
    if (style.display === "none" || style.opacity === "0") continue;
    const rect = shifted(node.getBoundingClientRect());
    const box = cut(rect, clip);
    const tag = node.localName;
    const framed = ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(style[`border${side}Width`]) > 0);
    const drawn = DRAWN.has(node.tagName.toUpperCase()) && style.visibility === "visible";
    const inner = style.overflow === "visible" || style.display === "inline" || tag === "body" ? clip : box;
    const at = records.length;
    records.push({up, tag, path, box, drawn, framed, background: style.backgroundColor,
      inline: style.display.startsWith("inline") || style.display === "contents",
      lifted: style.position === "absolute" || style.position === "fixed"});
    if (drawn && tag !== "button") continue;
    const counts = {};
    const children = [];
    // What an element shows: its shadow root, and what a slot there was given.
    const given = tag === "slot" ? node.assignedNodes() : [];
    for (const child of given.length ? given : (node.shadowRoot || node).childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) {
        const name = child.localName;
        counts[name] = (counts[name] || 0) + 1;
        children.push([child, at, `${path}/${name}[${counts[name]}]`, inner]);
      } else if (child.nodeType === Node.TEXT_NODE) {
        counts.text = (counts.text || 0) + 1;
        children.push([child, at, `${path}/text()[${counts.text}]`, inner]);
      }
    }
    stack.push(...children.reverse());
  }
  return records;
}

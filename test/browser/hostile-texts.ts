/** A server that nothing may ever ask: it does not exist, and a browser that tries is seen trying. */
const OUTSIDE = 'http://outside.example';
const RUN = 'window.pwned=1';

/** What people and models may write to a page that believes it. `mark` is to be read on the page, whatever becomes of the rest. */
const ATTACKS: readonly ((mark: string) => string)[] = [
  (mark) => `<script>${RUN}</script> ${mark}`,
  (mark) => `</script><script>${RUN}</script> ${mark}`,
  (mark) => `<SCRIPT SRC="${OUTSIDE}/a.js"></SCRIPT> ${mark}`,
  (mark) => `<img src=x onerror="${RUN}"> ${mark}`,
  (mark) => `<img src="${OUTSIDE}/pixel.png"> ${mark}`,
  (mark) => `<svg onload="${RUN}"><circle r="9"/></svg> ${mark}`,
  (mark) => `<svg><script>${RUN}</script></svg> ${mark}`,
  (mark) => `<svg><a xlink:href="javascript:${RUN}"><text>${mark}</text></a></svg>`,
  (mark) => `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}"></style></table></mtext></math> ${mark}`,
  (mark) => `<iframe src="${OUTSIDE}"></iframe> ${mark}`,
  (mark) => `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe> ${mark}`,
  (mark) => `<object data="${OUTSIDE}/a.swf"></object> ${mark}`,
  (mark) => `<embed src="javascript:${RUN}"> ${mark}`,
  (mark) => `<style>* { display: none; background: url(${OUTSIDE}/style.png) }</style> ${mark}`,
  (mark) => `<style>@import "${OUTSIDE}/a.css";</style> ${mark}`,
  (mark) => `<link rel="stylesheet" href="${OUTSIDE}/a.css"> ${mark}`,
  (mark) => `<base href="${OUTSIDE}/"> ${mark}`,
  (mark) => `<meta http-equiv="refresh" content="0; url=${OUTSIDE}"> ${mark}`,
  (mark) => `<form action="${OUTSIDE}"><input name=q autofocus onfocus="${RUN}"><button>Go</button></form> ${mark}`,
  (mark) => `<details open ontoggle="${RUN}"><summary>${mark}</summary></details>`,
  (mark) => `<video><source onerror="${RUN}"></video> ${mark}`,
  (mark) => `<audio src="${OUTSIDE}/a.mp3" autoplay></audio> ${mark}`,
  (mark) => `<body onload="${RUN}"> ${mark}`,
  (mark) => `<div style="position:fixed;inset:0;background:url(${OUTSIDE}/cover.png)">cover</div> ${mark}`,
  (mark) => `<a href="javascript:${RUN}">${mark}</a>`,
  (mark) => `<a href=" &#106;avascript:${RUN}">${mark}</a>`,
  (mark) => `<p onclick="${RUN}">${mark}`,
  (mark) => `<!-- ${mark} --><!--><img src=x onerror="${RUN}">-->`,
  (mark) => `<noscript><p title="</noscript><img src=x onerror=${RUN}>">${mark}`,
  (mark) => `<template><script>${RUN}</script></template> ${mark}`,
  (mark) => `[${mark}](javascript:${RUN})`,
  (mark) => `[${mark}](JaVaScRiPt:${RUN})`,
  (mark) => `[${mark}](java\tscript:${RUN})`,
  (mark) => `[${mark}](&#106;avascript&colon;${RUN})`,
  (mark) => `[${mark}](data:text/html,<script>${RUN}</script>)`,
  (mark) => `[${mark}](data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==)`,
  (mark) => `[${mark}](vbscript:msgbox)`,
  (mark) => `[${mark}](<javascript:${RUN}> "title")`,
  (mark) => `[${mark}][evil]\n\n[evil]: javascript:${RUN} "a title"`,
  (mark) => `<javascript:${RUN}> ${mark}`,
  (mark) => `![${mark}](${OUTSIDE}/image.png)`,
  (mark) => `![${mark}](javascript:${RUN})`,
  (mark) => `[![${mark}](${OUTSIDE}/badge.svg)](javascript:${RUN})`,
  (mark) => `![${mark}][pixel]\n\n[pixel]: ${OUTSIDE}/reference.png`,
  (mark) => `[${mark}" onmouseover="${RUN}](http://a.example/"onmouseover="${RUN})`,
  (mark) => `http://a.example/"><img/src=x/onerror=${RUN}> ${mark}`,
  (mark) => `\`\`\`"><img src=x onerror=${RUN}>\n${mark}\n\`\`\``,
  (mark) => `&lt;script&gt;${RUN}&lt;/script&gt; &#60;img src=x onerror=${RUN}&#62; ${mark}`,
  (mark) => `\u202e${mark}\u202c gnp.exe \u2066\u2067 \u200b\u200d\ufeff\u00ad עברית العربية`,
  (mark) => `${mark} ${'W'.repeat(5000)}${'\u0301'.repeat(200)}`,
];

/** Where a renderer of Markdown looks at a text with other eyes. */
const PLACES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `- one\n- ${text.replaceAll('\n', '\n  ')}`,
  (text) => `> ${text.replaceAll('\n', '\n> ')}`,
  (text) => `**bold _${text}_** ~~and~~`,
];

export const HOSTILE_TEXTS: readonly string[] = PLACES.flatMap((place, at) =>
  ATTACKS.map((attack, n) => place(attack(markOf(at * ATTACKS.length + n)))),
);

/** What must be read on the page where the text with this number is shown. */
export function markOf(n: number): string {
  return `mark${n}mark`;
}

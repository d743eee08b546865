/** The style sheet of all pages: light and dark, wide and narrow, and printed. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c1f24; --quiet: #565d68; --page: #ffffff; --panel: #f4f6f8; --line: #d5dae1; --link: #0a56b5;
  --good: #1b6b32; --warn: #8a4b00; --bad: #a11a14;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7eaee; --quiet: #a3abb6; --page: #15181c; --panel: #1f2429; --line: #384049; --link: #82b5ff;
    --good: #7fd69a; --warn: #f0b35c; --bad: #ff9d96;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; color: var(--text); background: var(--page);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
}
a { color: var(--link); text-underline-offset: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 8px; top: 8px; padding: 6px 10px; background: var(--page); }
header, main, footer { max-width: 1080px; margin: 0 auto; padding: 12px 20px; }
header { display: flex; flex-wrap: wrap; gap: 10px 24px; align-items: center; border-bottom: 1px solid var(--line); }
.home { color: var(--text); font-weight: 650; text-decoration: none; }
form { display: flex; flex: 1 1 240px; gap: 8px; max-width: 520px; }
input, button {
  min-height: 40px; padding: 6px 12px; color: inherit; background: var(--panel);
  font: inherit; border: 1px solid var(--quiet); border-radius: 6px;
}
input { flex: 1; min-width: 0; }
button { cursor: pointer; }
footer { display: flex; gap: 20px; margin-top: 40px; color: var(--quiet); border-top: 1px solid var(--line); }
h1 { margin: 24px 0 8px; font-size: 1.8rem; line-height: 1.2; }
h2 { margin: 32px 0 8px; font-size: 1.25rem; }
h3 { margin: 24px 0 4px; font-size: 1.05rem; }
p { max-width: 72ch; }
p:empty { display: none; }
code, pre { font: 0.9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 8px 0; padding: 10px 14px; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; }
dl { display: grid; grid-template-columns: minmax(110px, max-content) 1fr; gap: 6px 20px; }
dt { color: var(--quiet); }
dd { margin: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 14px; padding: 0; list-style: none; }
.cards > li { padding: 14px 16px; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.cards h2 { margin: 0; font-size: 1.05rem; }
.cards p { margin: 6px 0; }
.cards img, .cards video { display: block; width: 100%; height: auto; aspect-ratio: 4 / 3; object-fit: contain; background: var(--page); border-radius: 6px; }
.facts { color: var(--quiet); font-size: 0.9rem; }
.tags { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0 0; padding: 0; list-style: none; }
.tags li { padding: 0 8px; font-size: 0.85rem; border: 1px solid var(--line); border-radius: 10px; }
.definitions { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 0 24px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 7px 12px 7px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td { overflow-wrap: anywhere; min-width: 6em; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
.status { font-weight: 600; }
.active, .completed, .success { color: var(--good); }
.flagged, .pending { color: var(--warn); }
.banned, .deleted, .failed { color: var(--bad); }
.text { white-space: pre-wrap; }
.pages { display: flex; gap: 16px; margin: 20px 0; }
svg.node { display: block; max-width: 100%; height: auto; margin: 8px 0; font: 12px system-ui, sans-serif; }
svg.node .box { fill: #353535; stroke: #1a1a1a; }
svg.node .widget { fill: #222222; stroke: #666666; }
svg.node text { fill: #dddddd; }
svg.node .title { fill: #ffffff; font-size: 13px; }
.readme { padding: 4px 20px; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
.readme img { max-width: 100%; height: auto; }
@media (max-width: 480px) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; } }
@media print { header form, footer, .skip, .pages { display: none; } body { color: #000; background: #fff; } }
`.trimStart();

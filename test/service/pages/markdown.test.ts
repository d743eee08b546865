import { describe, expect, it } from 'vitest';
import { drawMarkdown } from '../../../src/service/pages/markdown.js';

const drawText = (text: string) => drawMarkdown(text).text.trim();

describe('Markdown from elsewhere', () => {
  it('is drawn with headings below those of the page, and with tables, lists and code', () => {
    expect(drawText('# One\n\n##### Five\n\n- a **b**\n\n```html\n<b>\n```\n\n|x|y|\n|-|:-:|\n|1|2|')).toBe(
      '<h3>One</h3>\n<h6>Five</h6>\n<ul>\n<li>a <strong>b</strong></li>\n</ul>\n<pre><code>&lt;b&gt;\n</code></pre>\n' +
        '<table>\n<thead>\n<tr>\n<th scope="col">x</th>\n<th scope="col">y</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>',
    );
  });

  it('has links of the web without weight, and only https pictures', () => {
    expect(drawText('[a](https://x.example/?a=1&b "t\'\\"") ![b](https://x.example/b.png)')).toBe(
      '<p><a href="https://x.example/?a=1&amp;b" rel="nofollow noopener noreferrer">a</a> <img src="https://x.example/b.png" alt="b" loading="lazy" referrerpolicy="no-referrer"></p>',
    );
    for (const address of ['docs/a.md', '#part', '//x.example', 'ftp://x.example', 'https://u:p@x.example'])
      expect(drawText(`[a](${address})`), address).toBe('<p><span>a</span></p>');
    for (const address of ['http://x.example/b.png', 'b.png', 'https://u:p@x.example/b.png'])
      expect(drawText(`![b](${address})`), address).toBe('<p>b</p>');
    expect(drawText('[![b](https://x.example/b.png)](docs)')).toMatch(/^<p><span><img [^<]*><\/span><\/p>$/);
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<!-- x --><svg onload=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt&#58;alert(1))',
    '[a](data:text/html,<script>alert(1)</script>)',
    '![a](data:image/svg+xml,<svg onload=alert(1)>)',
    '![" onerror="alert(1)](https://x.example/"onerror="alert(1))',
    '[a](https://x.example/"onmouseover="alert(1))',
    '[a]: javascript:alert(1)\n\n[a]',
    '<javascript:alert(1)>',
    '```" onload="alert(1)\nx\n```',
    '`</code><script>alert(1)</script>`',
    '    </code></pre><script>alert(1)</script>',
    '|<script>|\n|:-:|\n|<img src=x onerror=alert(1)>|',
    '&#60;script&#62;alert(1)&#60;/script&#62;',
  ])('runs and loads nothing of %j', (text) => {
    const drawn = drawText(text);
    const tags = drawn.match(/<[a-z][^>]*>/gi) ?? [];
    for (const tag of tags) {
      const names = tag.replace(/"[^"]*"/g, '""');
      expect(names).toMatch(
        /^<(?:p|a|img|span|code|pre|table|thead|tbody|tr|th|td)(?: (?:href|rel|src|alt|loading|referrerpolicy|scope)="")*>$/,
      );
      expect(tag).not.toMatch(/(?:href|src)="(?!https:\/\/x\.example\/)/);
    }
  });

  it('hides no direction and no control, written or as an entity', () => {
    expect(drawText('a\u202eb &#8238;c `\u2066d` ![\u202ee](https://x.example/e.png)')).not.toMatch(
      /[\u202a-\u202e\u2066-\u2069]/,
    );
  });

  it('takes no long time for what parsers are slow with', () => {
    const size = 32 * 1024;
    for (const part of [
      '*a ',
      '_a_',
      '[',
      '![',
      '[[a]',
      '![a](',
      '> ',
      '- ',
      '`a``',
      '<!--',
      '&amp',
      '[a]: b\n',
      'a**b',
    ]) {
      const before = process.cpuUsage();
      drawText(part.repeat(size / part.length));
      const { user } = process.cpuUsage(before);
      // 100 ms at most where it was measured; a parser that is quadratic in it takes 40 s.
      expect(user / 1000, part).toBeLessThan(2_000);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { readableText } from '../../src/agents/readable-text.ts';

const { signal } = new AbortController();

async function textOf(html: string, url = 'https://page.test/dir/', maxLength = 50_000): Promise<string> {
  return (await readableText(html, url, signal, maxLength)).text;
}

describe('the readable text of a page', () => {
  test.each([
    ['paragraphs', '<p>One\n  two</p><p>three', 'One two\n\nthree'],
    ['words across elements', 'so<b>me</b> <i>bold</i> words', 'some bold words'],
    ['headings', '<h1>A</h1><h3>B</h3>c', '# A\n\n### B\n\nc'],
    ['an empty heading', '<h1></h1><p>a', 'a'],
    ['lists', '<ul><li>a<li><p>b</p></ul>c', '- a\n\n- b\n\nc'],
    ['line breaks', 'a<br>b<div>c</div>d', 'a\nb\nc\nd'],
    ['a table', '<table><tr><th>A<th>B<tr><td>1<td>2</table>', 'A | B |\n1 | 2 |'],
    ['what is formatted already', '<pre>  a\n   b</pre>', '  a\n   b'],
    ['entities', '&lt;a&gt; &amp; &eacute;&nbsp;b', '<a> & é b'],
    ['pictures by what they show', '<img src="a.png" alt="A cat">', '[A cat]'],
    ['links', '<a href="../x?y=1">x</a> and', 'x (https://page.test/x?y=1) and'],
    [
      'links that lead nowhere',
      '<a href="#a">a</a> <a href="javascript:b()">b</a> <a href="/c"></a> <a>d</a>',
      'a b d',
    ],
    ['a link that cannot be parsed', '<a href="https://[">x</a>', 'x'],
  ])('has %s', async (_what, html, expected) => {
    expect(await textOf(html)).toBe(expected);
  });

  test('leaves out what nobody reads', async () => {
    const html =
      '<style>a{}</style>a<script>if (1 < 2) "</b>"</script><!-- b --><svg><title>c</title><text>d</text></svg>' +
      '<template><p>e</p></template><noscript>f</noscript>g';

    expect(await textOf(html)).toBe('ag');
  });

  test('tells the title apart', async () => {
    const html = '<html><head><title> A &amp;\n B </title></head><body>c<svg><title>d</title></svg></body></html>';

    expect(await readableText(html, 'https://page.test/', signal, 100)).toEqual({ title: 'A & B', text: 'c' });
  });

  test('reads an element that is cut in two by the pieces it is parsed in', async () => {
    const filling = 'x'.repeat(2040);

    expect(await textOf(`<i>${filling}</i><a href="/y">y</a>`)).toBe(`${filling}y (https://page.test/y)`);
  });

  test('is read no further than what is handed over', async () => {
    const text = await textOf(`<p>${'word '.repeat(100_000)}</p>`, undefined, 50_000);

    expect(text.length).toBeGreaterThan(50_000);
    expect(text.length).toBeLessThan(55_000);
  });

  test('leaves out addresses that are too long, of which a page can make many with few letters', async () => {
    const links = await textOf('<a href="a">a</a> '.repeat(1000), `https://page.test/${'x'.repeat(15_000)}/`);

    expect(links).toBe('a '.repeat(1000).trim());
    expect(await textOf(`<a href="/${'y'.repeat(480)}">a</a>`)).toHaveLength(502);
  });

  test('refuses a page that would take for ever', async () => {
    await expect(textOf('<b>'.repeat(100_000) + '</i>'.repeat(100_000))).rejects.toThrow('nests deeper than 1000');
  });

  test('stops when it is aborted', async () => {
    await expect(readableText('a', 'https://page.test/', AbortSignal.abort(), 100)).rejects.toThrow('aborted');
  });
});

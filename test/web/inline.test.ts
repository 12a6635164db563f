import { Lexer } from 'marked';
import { describe, expect, test } from 'vitest';
import { Inline } from '../../src/web/markdown/inline.tsx';

/** What a line of Markdown becomes: elements as `<tag attributes>`, everything else as text that cannot be one. */
function shown(markdown: string): string {
  return written(Inline({ tokens: Lexer.lexInline(markdown) }));
}

function written(node: unknown): string {
  if (node === null || node === undefined || typeof node === 'boolean') return '';
  if (Array.isArray(node)) return node.map(written).join('');
  if (!isVNode(node)) return String(node).replaceAll('<', '‹').replaceAll('>', '›');
  const { type, props } = node;
  if (typeof type === 'function') return written(type(props));
  const { children, ...attributes } = props;
  const written_ = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<${type}${written_.join('')}>${written(children)}</${type}>`;
}

function isVNode(
  node: unknown,
): node is { type: string | ((props: object) => unknown); props: { children?: unknown; [name: string]: unknown } } {
  return typeof node === 'object' && node !== null && 'type' in node && 'props' in node;
}

describe('a line', () => {
  test.each([
    ['plain', 'plain'],
    ['**bold** *italic* ~~gone~~', '<strong>bold</strong> <em>italic</em> <del>gone</del>'],
    ['`a & b`', '<code dir="ltr">a & b</code>'],
    ['5 &lt; 6 &amp; 7', '5 ‹ 6 & 7'],
    ['a  \nb', 'a<br></br>b'],
    ['\\*not italic\\*', '*not italic*'],
  ])('%s becomes %s', (markdown, elements) => {
    expect(shown(markdown)).toBe(elements);
  });

  test('shows HTML as it is written', () => {
    expect(shown('<b>x</b> <img src=x onerror=alert(1)> <script>alert(1)</script>')).toBe(
      '‹b›x‹/b› ‹img src=x onerror=alert(1)› ‹script›alert(1)‹/script›',
    );
  });

  test('has links that tell where they lead, and tell nobody where they come from', () => {
    expect(shown('[safe](https://example.com)')).toBe(
      '<a href="https://example.com/" title="example.com" target="_blank" rel="noopener noreferrer nofollow">' +
        '<bdi>safe</bdi></a>',
    );
  });

  test('has no link to anything but the web and mail', () => {
    expect(shown('[click](javascript:alert(1)) [here](/v1/tasks)')).toBe('<bdi>click</bdi> <bdi>here</bdi>');
  });

  test('loads no image, but links to it by what it shows', () => {
    const image = shown('![a cat](https://example.com/cat.png) ![](https://example.com/2.png)');

    expect(image).toContain('<bdi>a cat</bdi></a>');
    expect(image).toContain('<bdi>image</bdi></a>');
    expect(image).not.toContain('<img');
  });

  test('that nests without end is shown as it is written', () => {
    const text = `${'*a **b '.repeat(200)}${'** *'.repeat(200)}`;

    expect(shown(text).replaceAll(/<[^>]+>/g, '').length).toBeGreaterThan(200);
  });
});

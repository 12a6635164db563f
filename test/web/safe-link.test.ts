import { describe, expect, test } from 'vitest';
import { withoutReferences } from '../../src/web/markdown/character-references.ts';
import { safeLink } from '../../src/web/markdown/safe-link.ts';

describe('a link', () => {
  test.each([
    ['https://example.com/a?b=1&amp;c=2', 'https://example.com/a?b=1&c=2', 'example.com'],
    ['http://example.com:8080', 'http://example.com:8080/', 'example.com:8080'],
    ['mailto:june@example.com?subject=Hello', 'mailto:june@example.com?subject=Hello', 'june@example.com'],
    ['HTTPS://EXAMPLE.com', 'https://example.com/', 'example.com'],
    ['https://аpple.com', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
  ])('%s may be followed, and says where it leads', (written, href, host) => {
    expect(safeLink(written)).toEqual({ href, host });
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'javascript&#58;alert(1)',
    'javascript&colon;alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:msgbox(1)',
    'file:///etc/passwd',
    'blob:https://example.com/1',
    '/v1/tasks',
    '#/inbox',
    '//example.com',
    'https://',
    'https://bank.example@evil.example',
    'https://bank.example:443@evil.example/',
    '',
  ])('%j is shown as text', (written) => {
    expect(safeLink(written)).toBeNull();
  });
});

test.each([
  ['a &amp; b &lt;i&gt;', 'a & b <i>'],
  ['&#39;&#x2192;&quot;', '\'→"'],
  ['&amp;lt;', '&lt;'],
  ['&unheard; &amp &;', '&unheard; &amp &;'],
  ['&#0;&#xD800;&#x110000;', '\ufffd\ufffd\ufffd'],
])('%s is read as %s', (written, text) => {
  expect(withoutReferences(written)).toBe(text);
});

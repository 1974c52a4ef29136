import ts from 'typescript'
import { expect, test } from 'vitest'
import { PROGRAM_PACKAGES, pageSources, sourcesOf } from '../harness/sources.ts'

/** What a regular expression reads, shown by an example that it matches whole, and by texts that any loose one matches too. */
const KINDS = {
  amount: { example: '249.50', loose: ['abc', 'a.b', '2026-11-27', '1.2.3.4', '.'] },
  day: { example: '2026-11-27', loose: ['abc', 'a-b-c', '----'] },
  instant: { example: '2026-11-27T10:00:00Z', loose: ['abc', 'a-b', 'aT:Z'] },
} as const

/** Readers of other things that look like these, with what they read. */
const OTHERS: Readonly<Record<string, string>> = {
  'packages/conformance/src/checks/card-fields.ts': 'judges what a server wrote, as a stranger',
  'packages/conformance/src/facts.ts': 'judges what a server wrote, as a stranger',
  'packages/core/src/coins/coin-liability.ts': 'the value of one coin, four decimals',
  'packages/core/src/rails/stated-fields.ts': 'the tokens of JSON',
  'packages/core/src/bank-files/file-format.ts': 'the names of columns',
  'packages/core/src/cards/account/transfer-notice.ts': 'compares names of people and their accounts',
  'packages/upi-qr/src/bharat-qr.ts': 'the amount of a QR string, as its standard writes it',
  'packages/upi-qr/src/upi-check.ts': 'the amount of a QR string, as its standard writes it',
  'apps/console/src/pages/coin-liability.tsx': 'the value of one coin, four decimals',
  'apps/console/src/parts/fee-fields.tsx': 'a percentage',
  'apps/console/src/parts/money.tsx': 'groups what the service wrote',
  'apps/console/src/parts/object-link.tsx': 'days in texts that the service wrote, for people',
}

const pages = pageSources()

const planted = {
  file: 'packages/core/src/planted.ts',
  text: `const a = /^\\d{1,9}(?:\\.\\d\\d)?$/; const b = /^\\d{4}-\\d\\d-\\d\\d$/; const c = s.replace(/\\W/g, '')
    const d = /^\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z$/; if (timingSafeEqual(Buffer.from(x, 'hex'), y)) fail()`,
}

/** What a file reads besides the readers of `kernel`: kinds of things, by the regular expressions and calls that do it. */
function readIn({ file, text }: { file: string; text: string }): string[] {
  const found: string[] = []
  const ofExpression = (literal: string) => {
    const end = literal.lastIndexOf('/')
    const source = literal.slice(1, end)
    const flags = literal.slice(end + 1).replace(/[gy]/g, '')
    const matched = (sample: string) => new RegExp(source, flags).exec(sample)?.[0] === sample
    for (const [kind, { example, loose }] of Object.entries(KINDS))
      if (matched(example) && !loose.some(matched)) found.push(kind)
    const bare = 'aB12-ab 3/CD'.replace(new RegExp(source, `${flags}g`), '')
    if (bare === 'aB12ab3CD' && /\/\w*g/.test(literal.slice(end))) found.push('reference')
  }
  const walk = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) ofExpression(node.text)
    if (ts.isCallExpression(node) && node.expression.getText(tree) === 'timingSafeEqual')
      if (/Buffer\.from\(.*'(?:hex|base64)'\)/.test(node.getText(tree))) found.push('signature')
    ts.forEachChild(node, walk)
  }
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false)
  walk(tree)
  return found
}

test('amounts, references, days, instants and signatures have one reader each, in the kernel', () => {
  expect(readIn(planted).sort()).toEqual(['amount', 'day', 'instant', 'reference', 'signature'])
  const sources = [...sourcesOf(PROGRAM_PACKAGES), ...pages].filter(
    ({ file }) => !file.startsWith('packages/kernel/'),
  )
  const second = sources.filter((source) => readIn(source).length > 0).map(({ file }) => file)
  expect(second.sort()).toEqual(Object.keys(OTHERS).sort())
})

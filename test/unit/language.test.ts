import { expect, test } from 'vitest'
import { dialectOf } from '../../scripts/dialect.ts'

const RESPONSE = '(write: response, return, respond)'

test.each([
  `test('a lost answer is repeated', () => {})`,
  `test(\`a lost answer is repeated \${TIMES} times\`, () => {})`,
  `test.each([1])('a lost answer is repeated %i times', () => {})`,
  `test.skipIf(true)('a lost answer is repeated', () => {})`,
  `test('a lost answer is repeated', { timeout: 1 }, () => {})`,
  `describe('a lost answer', () => { test('is repeated', () => {}) })`,
  `describe('a request', () => { test('whose answer is lost is repeated', () => {}) })`,
  `inBrowser('a lost answer', [])`,
])('a private word in the title of a test is reported: %s', (source) => {
  for (const file of ['test/service/a.test.ts', 'lab/fuzz/a.test.ts', 'packages/jwe/test/a.test.ts'])
    expect(dialectOf(file, source)).toEqual([`"answer" ${RESPONSE}`])
})

test.each(['forgotten', 'dead card', 'everybody', 'nobody', 'told', 'look-up', 'sealed'])(
  'the word %j is reported in titles',
  (word) => {
    expect(dialectOf('test/unit/a.test.ts', `test('a title with ${word} in it', () => {})`)).toHaveLength(1)
  },
)

test.each([
  `test('a lost response is repeated', () => { expect(answer).toBe('no answer at all') })`,
  `// the answer\nconst answer = ask('an answer of a test')`,
  'test("`answer` is a name in code, and the error events_forgotten too", () => {})',
])('in tests nothing else is reported: %s', (source) => {
  expect(dialectOf('test/unit/a.test.ts', source)).toEqual([])
})

test('fenced code in documents and the examples of the SDK are checked with their names, except names of other libraries', () => {
  const code = 'const answer = gcm.Seal(text) // told'
  const found = [`"answer" ${RESPONSE}`, '"told" (write: notify, report, publish, receive, log)']
  expect(dialectOf('docs/guides/a.md', `Encrypt it:\n\n\`\`\`ts\n${code}\n\`\`\`\n`)).toEqual(found)
  expect(dialectOf('packages/sdk/examples/a.ts', code)).toEqual(found)
})

test('prose of documents is checked without names in backticks; of sources, comments and texts are', () => {
  expect(dialectOf('docs/a.md', 'The answer is `answer`.')).toEqual([`"answer" ${RESPONSE}`])
  const source = `const answer = 'answer' // an answer\nthrow new Error('no answer came')`
  expect(dialectOf('packages/core/src/a.ts', source)).toHaveLength(2)
})

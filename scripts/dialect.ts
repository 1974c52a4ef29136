import ts from 'typescript'

interface Word {
  readonly pattern: RegExp
  readonly instead: string
  /** Not looked for in code: other libraries have such names. */
  readonly notInCode?: true
}

/** Exact patterns, and what to write instead. */
const WORDS: readonly Word[] = [
  { pattern: /\banswer(?:s|ed|ing)?\b(?! (?:a|the|this) question)/gi, instead: 'response, return, respond' },
  { pattern: /\b(?:tells?|told)\b/gi, instead: 'notify, report, publish, receive, log' },
  { pattern: /\banew\b/gi, instead: 'again, re-create, reset' },
  { pattern: /\bof (?:ours|yours|theirs)\b/gi, instead: 'our, your, their' },
  { pattern: /\bbears?\b/gi, instead: 'has, contains' },
  { pattern: /\b(?:un)?seal(?:s|ed|ing)?\b/gi, instead: 'encrypt, encrypted, decrypt', notInCode: true },
  { pattern: /\bsaid no\b|\bsays no\b|\bturned away\b/gi, instead: 'rejected, refused' },
  { pattern: /\blook-ups?\b/gi, instead: 'lookup' },
  { pattern: /\b(?:a|the) former\b|\bformer (?!employee)/gi, instead: 'previous' },
  { pattern: /\bnobody\b|\bwhoever\b|\bsomebody\b/gi, instead: 'name the subject' },
  { pattern: /\bthe door\b/gi, instead: 'admission control' },
  { pattern: /\bhousekeeping\b/gi, instead: 'retention' },
  {
    pattern: /\bThere is (?:no such|one already|not enough)\b/g,
    instead: 'not found, already exists, insufficient',
  },
  { pattern: /\bat least 1 characters\b/g, instead: 'must not be empty' },
]
const CODE_WORDS = WORDS.filter(({ notInCode }) => !notInCode)

/** Titles of tests are guarantees: what applies to prose, and words of which only titles had many. */
const TITLE_WORDS: readonly Word[] = [
  ...WORDS,
  { pattern: /\bforg(?:ets?|otten)\b/gi, instead: 'deleted' },
  { pattern: /\bdead cards?\b/gi, instead: 'blocked or expired card' },
  { pattern: /\b(?:every|any)body\b/gi, instead: 'name the subject' },
  { pattern: /\bfor ever\b/gi, instead: 'forever' },
]

const FENCED = /```[\s\S]*?```/g
const TITLED: ReadonlySet<string> = new Set(['test', 'it', 'describe', 'inBrowser'])

const occurrences = (text: string, words: readonly Word[]): string[] =>
  words.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(([word]) => `"${word.trim()}" (write: ${instead})`),
  )

/** Names in code are not prose: `answer`, "`decryption_failed`" in backticks, paths and addresses. */
const prose = (text: string): string =>
  text.replace(FENCED, ' ').replace(/`[^`]*`|\]\([^)]*\)|\b[\w./-]+\.(?:md|ts)\b/g, ' ')

function nodesOf(file: string, text: string): ts.Node[] {
  const nodes: ts.Node[] = []
  const walk = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return nodes
}

/** Comments, and texts that have a space: what is one word is a name. */
function proseOf(file: string, text: string): string {
  const parts = nodesOf(file, text).flatMap((node) =>
    (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)) &&
    / /.test(node.text.trim())
      ? [node.text]
      : [],
  )
  const comments = text.match(/(?<=^|\s)\/\/.*|\/\*[\s\S]*?\*\//g) ?? []
  return [...comments, ...parts].map(prose).join('\n')
}

/** `test` of `test(…)`, `test.each(…)(…)` and `test.skipIf(…)(…)`. */
function calledBy({ expression }: ts.CallExpression): string {
  let callee: ts.Expression = expression
  for (;;) {
    if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression
    else if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag
    else return ts.isIdentifier(callee) ? callee.text : ''
  }
}

function titlesOf(file: string, text: string): string {
  const titles = nodesOf(file, text).flatMap((node) => {
    if (!ts.isCallExpression(node) || !TITLED.has(calledBy(node))) return []
    const [title] = node.arguments
    if (title === undefined) return []
    if (ts.isStringLiteral(title) || ts.isNoSubstitutionTemplateLiteral(title)) return [title.text]
    if (!ts.isTemplateExpression(title)) return []
    return [[title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)].join(' … ')]
  })
  return titles.map(prose).join('\n')
}

/** The words of a private dialect in what people read of a file: prose, code that is copied, titles of tests. */
export function dialectOf(file: string, text: string): string[] {
  if (file.endsWith('.md'))
    return [
      ...occurrences(prose(text), WORDS),
      ...occurrences((text.match(FENCED) ?? []).join('\n'), CODE_WORDS),
    ]
  if (file.startsWith('packages/sdk/examples/')) return occurrences(text, CODE_WORDS)
  if (/^(?:test|lab|packages\/[^/]+\/test)\//.test(file))
    return occurrences(titlesOf(file, text), TITLE_WORDS)
  return occurrences(proseOf(file, text), WORDS)
}

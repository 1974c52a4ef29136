// `npm run check -- language`: what people read is in the field's usual words (CONTRIBUTING.md, "Language").
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const GENERATED = 'packages/sdk/src/registry.ts'

/** Exact patterns, and what to write instead. */
const WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\banswer(?:s|ed|ing)?\b(?! (?:a|the|this) question)/gi, 'response, return, respond'],
  [/\b(?:tells?|told)\b/gi, 'notify, report, publish, receive, log'],
  [/\banew\b/gi, 'again, re-create, reset'],
  [/\bof (?:ours|yours|theirs)\b/gi, 'our, your, their'],
  [/\bbears?\b/gi, 'has, contains'],
  [/\b(?:un)?seal(?:s|ed|ing)?\b/gi, 'encrypt, encrypted, decrypt'],
  [/\bsaid no\b|\bsays no\b|\bturned away\b/gi, 'rejected, refused'],
  [/\blook-ups?\b/gi, 'lookup'],
  [/\b(?:a|the) former\b|\bformer (?!employee)/gi, 'previous'],
  [/\bnobody\b|\bwhoever\b|\bsomebody\b/gi, 'name the subject'],
  [/\bthe door\b/gi, 'admission control'],
  [/\bhousekeeping\b/gi, 'retention'],
  [/\bThere is (?:no such|one already|not enough)\b/g, 'not found, already exists, insufficient'],
  [/\bat least 1 characters\b/g, 'must not be empty'],
]

const occurrences = (text: string): string[] =>
  WORDS.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(([word]) => `"${word.trim()}" (write: ${instead})`),
  )

/** Names in code are not prose: `answer`, "`decryption_failed`" in backticks, paths and addresses. */
const prose = (text: string): string =>
  text.replace(/```[\s\S]*?```|`[^`]*`|\]\([^)]*\)|\b[\w./-]+\.(?:md|ts)\b/g, ' ')

/** Comments, and texts that have a space: what is one word is a name. */
function proseOf(file: string, text: string): string {
  if (file.endsWith('.md')) return prose(text)
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const parts: string[] = []
  const walk = (node: ts.Node): void => {
    const isText = ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)
    if (isText && / /.test(node.text.trim())) parts.push(node.text)
    ts.forEachChild(node, walk)
  }
  walk(source)
  const comments = text.match(/(?<=^|\s)\/\/.*|\/\*[\s\S]*?\*\//g) ?? []
  return [...comments, ...parts].map(prose).join('\n')
}

const FILES = ['*.md', 'packages/*/src/*.ts', 'apps/console/src/*.ts', 'apps/console/src/*.tsx']

function found(): [file: string, words: string[]][] {
  const files = execFileSync('git', ['ls-files', ...FILES], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return files
    .filter((file) => file !== GENERATED)
    .map((file): [string, string[]] => [file, occurrences(proseOf(file, readFileSync(file, 'utf8')))])
    .filter(([, words]) => words.length > 0)
}

const dialect = found()
for (const [file, words] of dialect) console.error(`${file}: words of a private dialect: ${words.join(', ')}`)
if (dialect.length > 0) process.exitCode = 1

// `npm run check -- language`: what people read is in the field's usual words (CONTRIBUTING.md, "Language"). What was there when
// this began is counted by file in language.json; a count may only shrink: `npm run language -- --write`.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const LIST = fileURLToPath(new URL('language.json', import.meta.url))
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

function found(): Record<string, string[]> {
  const files = execFileSync('git', ['ls-files', ...FILES], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return Object.fromEntries(
    files
      .filter((file) => file !== GENERATED)
      .map((file) => [file, occurrences(proseOf(file, readFileSync(file, 'utf8')))] as const)
      .filter(([, words]) => words.length > 0),
  )
}

const now = found()
if (process.argv.includes('--write')) {
  const counts = Object.fromEntries(Object.entries(now).map(([file, words]) => [file, words.length]))
  writeFileSync(LIST, `${JSON.stringify(counts, null, 2)}\n`)
} else {
  const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, number>
  const worse = Object.entries(now).filter(([file, words]) => words.length > (listed[file] ?? 0))
  const better = Object.keys(listed).filter((file) => (now[file]?.length ?? 0) < listed[file]!)
  for (const [file, words] of worse)
    console.error(
      `${file}: ${words.length} words of a private dialect, was ${listed[file] ?? 0}: ${words.join(', ')}`,
    )
  if (better.length > 0)
    console.error(`Fewer than listed: ${better.join(', ')}. Update the list: npm run language -- --write`)
  if (worse.length > 0 || better.length > 0) process.exitCode = 1
}

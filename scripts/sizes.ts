// `npm run check -- sizes`: files of at most 500 lines and functions of at most 60. What was larger when this began is
// listed in sizes.json with its size, which may only shrink: a listed one that got larger, or small enough, is an error.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const FILE_LINES_MAX = 500
const FUNCTION_LINES_MAX = 60
const LIST = fileURLToPath(new URL('sizes.json', import.meta.url))

/** Lines of the files and functions that are too large, by `file` or `file: function`. */
function large(): Record<string, number> {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { encoding: 'utf8' })
  const found: Record<string, number> = {}
  for (const file of files.trim().split('\n')) {
    const text = readFileSync(file, 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line
    const lines = lineOf(text.length)
    if (lines > FILE_LINES_MAX) found[file] = lines
    const walk = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body) {
        const size = lineOf(node.end) - lineOf(node.getStart()) + 1
        const name = `${file}: ${nameOf(node)}`
        if (size > FUNCTION_LINES_MAX) found[name] = Math.max(size, found[name] ?? 0)
      }
      ts.forEachChild(node, walk)
    }
    walk(source)
  }
  return found
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined)
  if (named) return named.getText()
  return ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : 'anonymous'
}

const now = large()
if (process.argv.includes('--write')) {
  writeFileSync(LIST, `${JSON.stringify(now, null, 2)}\n`)
} else {
  const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, number>
  const problems = [
    ...Object.entries(now)
      .filter(([name, lines]) => lines > (listed[name] ?? 0))
      .map(
        ([name, lines]) =>
          `${name}: ${lines} lines${name in listed ? `, was ${listed[name]}` : ''}. Split it.`,
      ),
    ...Object.keys(listed)
      .filter((name) => !(name in now))
      .map((name) => `${name}: small enough by now. Take it off the list: npm run sizes -- --write`),
  ]
  if (problems.length > 0) {
    console.error(problems.join('\n'))
    process.exitCode = 1
  }
}

import { OPERATIONS } from '@svc/server/operations'
import { check } from 'recheck'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { PROGRAM_PACKAGES, sourcesOf } from '../harness/sources.ts'

/** Every regular expression that the service runs: literals of its sources, and patterns of its schemas. */
function expressions(): Map<string, { source: string; flags: string; where: string }> {
  const found = new Map<string, { source: string; flags: string; where: string }>()
  const note = (source: string, flags: string, where: string) =>
    found.set(`/${source}/${flags}`, { source, flags, where })
  for (const { file, text } of sourcesOf(PROGRAM_PACKAGES)) {
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
    const walk = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        note(node.text.slice(1, end), node.text.slice(end + 1), file)
      }
      ts.forEachChild(node, walk)
    }
    walk(tree)
  }
  const patterns = (node: unknown, where: string): void => {
    if (node === null || typeof node !== 'object') return
    for (const [name, value] of Object.entries(node))
      if (name === 'pattern' && typeof value === 'string') note(value, 'u', where)
      else patterns(value, where)
  }
  for (const { id, params, query, body } of OPERATIONS) patterns([params, query, body], id)
  return found
}

const LONG_MS = 300_000
/** Steps are counted, not time: on a busy machine each trial may take long. */
const BY_STEPS = {
  timeout: LONG_MS,
  attackTimeout: LONG_MS,
  incubationTimeout: LONG_MS,
  recallTimeout: LONG_MS,
} as const

test('no regular expression takes more than linear time, whatever its input', {
  timeout: 600_000,
}, async () => {
  const all = expressions()
  expect(all.size).toBeGreaterThan(60)
  const slow: string[] = []
  for (const [text, { source, flags, where }] of all) {
    const found = await check(source, flags, { ...BY_STEPS, randomSeed: 1 })
    if (found.status === 'vulnerable') slow.push(`${text} in ${where}: ${found.complexity.summary}`)
    else if (found.status !== 'safe') slow.push(`${text} in ${where}: ${found.error.kind}`)
  }
  expect(slow).toEqual([])
})

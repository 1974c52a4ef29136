import { join } from 'node:path'
import ts from 'typescript'
import { beforeAll, expect, test } from 'vitest'
import { PROGRAM_PACKAGES, ROOT, sourcesOf } from '../harness/sources.ts'

const SOURCES = join(ROOT, 'packages/')

type Rule = (node: ts.Node) => boolean

/** A file that breaks both rules, checked among the sources. */
const PLANTED = 'core/src/qr-codes/planted.ts'
const PLANTED_TEXT = `
  import { parseRfc3339 } from '@svc/kernel/time'
  import { readAmount } from '@svc/kernel/money'
  import { valueIn } from '@svc/kernel/reading'
  const read = async (text: string) => parseRfc3339(text)
  export async function planted(text: string, texts: readonly string[]) {
    const at = parseRfc3339(text)
    const amount = (valueIn(readAmount(1)))!
    return [parseRfc3339(text)!, at!, amount, (await read(text))!, texts.at(0)!, new Date(text), new Date(0),
      Date.parse(text)]
  }`

let files: readonly ts.SourceFile[]
let checker: ts.TypeChecker

beforeAll(() => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const host = ts.createCompilerHost(options)
  const planted = join(SOURCES, PLANTED)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === planted || fileExists(name)
  host.getSourceFile = (name, version) =>
    name === planted ? ts.createSourceFile(name, PLANTED_TEXT, version) : getSourceFile(name, version)
  const roots = sourcesOf(PROGRAM_PACKAGES).map(({ file }) => join(ROOT, file))
  const program = ts.createProgram([...roots, planted], options, host)
  files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(SOURCES))
  checker = program.getTypeChecker()
}, 300_000)

/** Where the rule is broken: in the file that is planted, and in the sources, as `file: code`. */
function broken(rule: Rule): { readonly planted: string[]; readonly sources: string[] } {
  const [planted, sources]: [string[], string[]] = [[], []]
  for (const file of files) {
    const name = file.fileName.slice(SOURCES.length)
    const walk = (node: ts.Node): void => {
      if (rule(node) && name === PLANTED) planted.push(node.getText(file))
      else if (rule(node)) sources.push(`${name}: ${node.getText(file)}`)
      ts.forEachChild(node, walk)
    }
    walk(file)
  }
  return { planted, sources }
}

/** The call that an expression's value comes from, also by way of a constant. */
function callOf(node: ts.Expression): ts.CallExpression | undefined {
  if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return callOf(node.expression)
  if (ts.isCallExpression(node)) return node
  if (!ts.isIdentifier(node)) return undefined
  const declared = checker.getSymbolAtLocation(node)?.valueDeclaration
  return declared && ts.isVariableDeclaration(declared) && declared.initializer
    ? callOf(declared.initializer)
    : undefined
}

/** `x()!` and `const a = x(); a!`, where `x` is a function of ours. */
function assertsOurResult(node: ts.Node): boolean {
  if (!ts.isNonNullExpression(node)) return false
  const call = callOf(node.expression)
  const file = call && checker.getResolvedSignature(call)?.declaration?.getSourceFile().fileName
  return file?.startsWith(SOURCES) ?? false
}

test('no `!` follows a call of the project’s functions: what it could not read or find is handled', {
  timeout: 300_000,
}, () => {
  const { planted, sources } = broken(assertsOurResult)
  expect(planted).toEqual(['(valueIn(readAmount(1)))!', 'parseRfc3339(text)!', 'at!', '(await read(text))!'])
  expect(sources).toEqual([])
})

function isText(value: ts.Expression | undefined): boolean {
  const type = value && checker.getTypeAtLocation(value)
  const types = type?.isUnion() ? type.types : [type]
  return types.some((one) => Boolean((one?.flags ?? 0) & ts.TypeFlags.StringLike))
}

/** `new Date(text)` and `Date.parse(text)`: both read far more than RFC 3339, and differently on each engine. */
function readsDateByEngine(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return node.expression.getText() === 'Date' && isText(node.arguments?.[0])
  return ts.isCallExpression(node) && node.expression.getText() === 'Date.parse' && isText(node.arguments[0])
}

/** The parser itself; our own text; RFC 9110's dates in `Retry-After`; certificates'; the kit and the SDK, which read what servers send. */
const MAY_READ =
  /^(?:kernel\/src\/time|console-api\/src\/faces\/overview-operations|core\/src\/webhooks\/retry-schedule|server\/src\/http\/tls|conformance\/src\/.*|sdk\/src\/.*)\.ts:/

test('only the parser of RFC 3339 reads instants from text', { timeout: 300_000 }, () => {
  const { planted, sources } = broken(readsDateByEngine)
  expect(planted).toEqual(['new Date(text)', 'Date.parse(text)'])
  expect(sources.filter((place) => !MAY_READ.test(place))).toEqual([])
})

import { join } from 'node:path'
import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { PORTAL_DOCUMENTED } from '@svc/console-api/portal/portal-operations'
import { FAILURES } from '@svc/contract/errors'
import { commonErrors } from '@svc/server/http/openapi-responses'
import type { Operation } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import ts from 'typescript'
import { beforeAll, expect, test } from 'vitest'
import { ANYWHERE } from '../harness/contract.ts'
import { OF_OTHERS } from '../harness/errors-of-others.ts'
import { PROGRAM_PACKAGES, ROOT, sourcesOf } from '../harness/sources.ts'

const SOURCES = join(ROOT, 'packages/')
const ERRORS = join(SOURCES, 'contract/src/errors.ts')

/** An operation whose command fails with a code that the operation does not list, checked among the sources. */
const PLANTED = join(SOURCES, 'server/src/cards/planted.ts')
const PLANTED_TEXT = `
  import { fail } from '@svc/contract/errors'
  import { command } from '@svc/platform/command'
  class Rules { check(n: number) { return n > 1 ? fail('nothing_left') : later(n) } }
  const WORDS = { 3: 'card_not_ended', 4: 'return_closed' } as const
  const later = (n: 3 | 4) => fail(WORDS[n])
  const planted = command({ name: 'planted', decide: (_: unknown, { n }: { n: number }) => new Rules().check(n) })
  export const plantedOperation = { id: 'planted', run: planted, errors: ['nothing_left', unread()] }
  const unread = () => fail('user_erased')`

/** What a declaration fails with by itself, and what it refers to. */
interface Facts {
  readonly codes: ReadonlySet<string>
  readonly refers: ReadonlySet<ts.Node>
}

let checker: ts.TypeChecker
/** Where each authenticator is, and the guard of pages: the file, and the name of the function. */
const AUTHENTICATORS: Readonly<
  Record<Exclude<Operation['auth'], 'none'> | 'page', readonly [file: string, name: string]>
> = {
  merchant: ['server/src/access/authenticate.ts', 'merchant'],
  tenant: ['server/src/access/authenticate.ts', 'tenant'],
  partner: ['server/src/access/authenticate.ts', 'partner'],
  partnerWithId: ['server/src/access/authenticate.ts', 'partnerWithId'],
  partnerSession: ['server/src/access/authenticate.ts', 'partnerSession'],
  rail: ['server/src/rails/authenticate-rail.ts', 'railAuthenticator'],
  bankRail: ['server/src/rails/authenticate-rail.ts', 'railAuthenticator'],
  cardRail: ['server/src/rails/authenticate-rail.ts', 'railAuthenticator'],
  operator: ['console-api/src/console-server.ts', 'operatorOf'],
  member: ['console-api/src/portal/portal-server.ts', 'memberOf'],
  loopback: ['console-api/src/identity/request-origin.ts', 'authenticateLoopback'],
  page: ['console-api/src/serve-page.ts', 'guardPage'],
}
const authenticators = new Map<string, ts.Node>()
/** The declaration of each operation, by the operation's id. */
const operations = new Map<string, ts.Node>()
const known = new Map<ts.Node, Facts>()
/** Where the code of a failure is not in its type: calls that pass on any code. */
const open = new Set<string>()

beforeAll(() => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === PLANTED || fileExists(name)
  host.getSourceFile = (name, version) =>
    name === PLANTED ? ts.createSourceFile(name, PLANTED_TEXT, version) : getSourceFile(name, version)
  const roots = sourcesOf(PROGRAM_PACKAGES).map(({ file }) => join(ROOT, file))
  const program = ts.createProgram([...roots, PLANTED], options, host)
  checker = program.getTypeChecker()
  for (const file of program.getSourceFiles())
    if (/packages\/(?:server|console-api)\/src\//.test(file.fileName)) findOperations(file)
  for (const [auth, [file, name]] of Object.entries(AUTHENTICATORS))
    authenticators.set(auth, functionIn(program.getSourceFile(join(SOURCES, file))!, name))
}, 300_000)

function functionIn(file: ts.SourceFile, name: string): ts.Node {
  const found: ts.Node[] = []
  const walk = (node: ts.Node): void => {
    const isOne =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isPropertyDeclaration(node) ||
      ts.isPropertyAssignment(node)
    if (isOne && node.name?.getText(file) === name) found.push(node)
    ts.forEachChild(node, walk)
  }
  walk(file)
  if (found.length !== 1) throw new Error(`${file.fileName} has ${found.length} functions named ${name}`)
  return found[0]!
}

/** The ids that an operation has: one whose begin is that of a face is of the console and of the portal, one of several of a function. */
function idsOf(id: ts.Expression): readonly string[] {
  if (ts.isStringLiteral(id)) return [id.text]
  const [span] = ts.isTemplateExpression(id) ? id.templateSpans : []
  return span?.expression.getText() === 'face.id'
    ? ['console', 'portal'].map((face) => `${face}${span.literal.text}`)
    : []
}

function findOperations(file: ts.SourceFile): void {
  const walk = (node: ts.Node, declaration: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText(file) === 'id')
      for (const id of idsOf(node.initializer))
        operations.set(id, ts.isStringLiteral(node.initializer) ? declaration : node.parent)
    ts.forEachChild(node, (child) => walk(child, ts.isSourceFile(node) ? child : declaration))
  }
  walk(file, file)
}

/** What a name stands for, where that is a part of the program that runs. */
function declarationsOf(name: ts.Identifier | ts.PrivateIdentifier): readonly ts.Node[] {
  const { parent } = name
  const found = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(name)
  const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
  return (symbol?.declarations ?? []).filter(
    (declaration) =>
      declaration.getSourceFile().fileName.startsWith(SOURCES) &&
      (ts.isFunctionDeclaration(declaration) ||
        ts.isVariableDeclaration(declaration) ||
        ts.isClassDeclaration(declaration) ||
        ts.isMethodDeclaration(declaration) ||
        ts.isGetAccessor(declaration) ||
        ts.isPropertyAssignment(declaration) ||
        ts.isPropertyDeclaration(declaration)),
  )
}

const isOfErrors = (callee: ts.Expression): boolean =>
  ts.isIdentifier(callee) &&
  ['fail', 'Failure'].includes(callee.text) &&
  declarationsOf(callee).some((declaration) => declaration.getSourceFile().fileName === ERRORS)

/** The codes that an argument may be, by its type. */
function codesOf(argument: ts.Expression): readonly string[] {
  const type = checker.getTypeAtLocation(argument)
  const codes = (type.isUnion() ? type.types : [type]).flatMap((each) =>
    each.isStringLiteral() ? [each.value] : [],
  )
  if (codes.length > 0 && codes.length < Object.keys(FAILURES).length) return codes
  open.add(argument.getSourceFile().fileName.slice(SOURCES.length))
  return []
}

function factsOf(declaration: ts.Node): Facts {
  const before = known.get(declaration)
  if (before) return before
  const facts = { codes: new Set<string>(), refers: new Set<ts.Node>() }
  known.set(declaration, facts)
  const walk = (node: ts.Node): void => {
    // A list of errors may name another operation's.
    if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === 'errors') return
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && isOfErrors(node.expression)) {
      const [argument] = node.arguments ?? []
      if (argument) for (const code of codesOf(argument)) facts.codes.add(code)
      node.arguments?.forEach(walk)
      return
    }
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      for (const found of declarationsOf(node)) facts.refers.add(found)
    ts.forEachChild(node, walk)
  }
  walk(declaration)
  return facts
}

const nameOf = (declaration: ts.Node): string =>
  ts.getNameOfDeclaration(declaration as ts.Declaration)?.getText() ?? '(operation)'

/** Every code with which what a declaration does may fail, and by which functions. */
function reachable(from: ts.Node): ReadonlyMap<string, string> {
  const codes = new Map<string, string>()
  const ways = new Map<ts.Node, string>([[from, '']])
  for (const [declaration, way] of ways) {
    const facts = factsOf(declaration)
    for (const code of facts.codes) if (!codes.has(code)) codes.set(code, way)
    for (const next of facts.refers)
      if (!ways.has(next) && !NO_RESPONSE.has(nameOf(next)))
        ways.set(next, `${way}${way && ' > '}${nameOf(next)}`)
  }
  return codes
}

const unused = new Set(
  Object.entries(OF_OTHERS).flatMap(([id, { codes }]) => codes.map((code) => `${id}: ${code}`)),
)

function isOfOthers(id: string, code: string): boolean {
  unused.delete(`${id}: ${code}`)
  return OF_OTHERS[id]?.codes.includes(code) ?? false
}

/**
 * Names whose failures are no response of all that refer to them: a stream that has begun breaks off, a table of operations
 * calls none, approvals are asked of persons, whose operations `one-person.test.ts` holds to their list, and of a store the
 * methods fail, each where it is named.
 */
const NO_RESPONSE = new Set(['whileValid', 'OPERATIONS', 'moneyCommand', 'PasskeyStore'])

/** Of requests with an `Idempotency-Key` or a JWE: the common errors have them where an operation reads one. */
const WITH_WHAT_IT_DOES_NOT_READ = ['idempotency_key_reused', 'encrypted_request_replayed']

/** Exports are made of lists, and have the errors of theirs. */
const EXPORT = /^(?:console|portal)\.export[A-Z]/

/** Codes that an operation may fail with and does not list, as `id: code`. */
function undocumented(operation: Operation): string[] {
  const { id, errors } = operation
  const declaration = operations.get(id)
  if (!declaration) return EXPORT.test(id) ? [] : [`${id}: no declaration`]
  const listed = new Set<string>([...errors, ...commonErrors(operation), ...WITH_WHAT_IT_DOES_NOT_READ])
  return [...reachable(declaration)]
    .filter(([code]) => !listed.has(code) && !ANYWHERE.has(code) && !isOfOthers(id, code))
    .map(([code, way]) => `${id}: ${code} by ${way}`)
}

test('the codes that are reachable from an operation are detected: through commands, methods and tables of codes', () => {
  expect([...reachable(operations.get('planted')!).keys()].sort()).toEqual([
    'card_not_ended',
    'nothing_left',
    'return_closed',
  ])
  expect(undocumented({ id: 'planted', errors: ['nothing_left'] } as never)).toEqual([
    'planted: card_not_ended by planted > Rules > later',
    'planted: return_closed by planted > Rules > later',
  ])
})

test.each([
  ['the API', OPERATIONS],
  ['the console', CONSOLE_OPERATIONS],
  ['the portal', PORTAL_DOCUMENTED],
])(
  'every error code that an operation of %s can fail with is in its list',
  (_, all) => {
    expect((all as readonly Operation[]).flatMap(undocumented).sort()).toEqual([])
  },
  300_000,
)

/** What an authenticator asks of some of its operations only. */
const isAskedOf = ({ beforeSecondFactor, scope, stepUp }: Operation, code: string): boolean =>
  (code !== 'second_factor_needed' || !beforeSecondFactor) &&
  (code !== 'step_up_required' || stepUp === true) &&
  (!['insufficient_scope', 'address_not_allowed'].includes(code) || scope !== undefined)

test.each([
  ['the API', OPERATIONS, false],
  ['the console', CONSOLE_OPERATIONS, true],
  ['the portal', PORTAL_DOCUMENTED, true],
])('every error code of the guards of an operation of %s is in its list', (_, all, isOfPage) => {
  const missing = (all as readonly Operation[]).flatMap((operation) => {
    const { auth, errors, id } = operation
    const guards = [...(auth === 'none' ? [] : [auth]), ...(isOfPage ? ['page'] : [])]
    const listed = new Set<string>([...errors, ...commonErrors(operation)])
    return guards
      .flatMap((guard) => [...reachable(authenticators.get(guard)!).keys()])
      .filter((code) => isAskedOf(operation, code) && !listed.has(code) && !ANYWHERE.has(code))
      .map((code) => `${id}: ${code}`)
  })
  expect(missing).toEqual([])
})

test('every exception is needed: without it a code would be missing', () => {
  expect([...unused]).toEqual([])
})

test('a failure has its code in its type, except where the stored one of an earlier order is returned again', () => {
  expect([...open].sort()).toEqual(['core/src/cards/card/earlier-orders.ts'])
})

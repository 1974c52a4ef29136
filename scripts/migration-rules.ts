import { type MigrationFile, statementsOf } from '@svc/platform/db/migration-files'
import { type Node, parse } from 'libpg-query'

type Statement = Record<string, Fields>
/** The parser's tree, of which each rule looks at a few fields. */
// oxlint-disable-next-line typescript/no-explicit-any
type Fields = any

/** Subtypes of ALTER TABLE that scan or rewrite the table under a lock, or break the version that runs beside. */
const ALTERATIONS: Readonly<Record<string, (command: Fields) => string | undefined>> = {
  AT_AddColumn: ({ def }) => columnProblem(def.ColumnDef),
  AT_AddConstraint: ({ def }) => constraintProblem(def.Constraint),
  AT_AlterColumnType: () =>
    'changing a type rewrites the table: add a column, fill it in batches, and use it from the next version on',
  AT_SetNotNull: () =>
    'set not null scans the table under its lock: add a constraint check (… is not null) not valid, and validate it in a file of its own',
  AT_SetTableSpace: () => 'moving a table rewrites it',
  AT_SetLogged: () => 'changing the persistence rewrites the table',
  AT_SetUnLogged: () => 'changing the persistence rewrites the table',
}

const CONSTANT_DEFAULTS = new Set(['A_Const', 'TypeCast', 'A_ArrayExpr'])

function columnProblem({ constraints = [] }: Fields): string | undefined {
  const of = (kind: string) =>
    constraints.find(({ Constraint }: Fields) => Constraint.contype === kind)?.Constraint
  const fallback = of('CONSTR_DEFAULT')
  if (of('CONSTR_NOTNULL') && !fallback)
    return 'a column that is not null needs a default: the version that runs beside does not write it'
  if (fallback && !CONSTANT_DEFAULTS.has(Object.keys(fallback.raw_expr)[0]!) && !isStable(fallback.raw_expr))
    return 'a default that is computed for each row rewrites the table: add the column without it, and fill it in batches'
  if (of('CONSTR_PRIMARY') || of('CONSTR_UNIQUE'))
    return 'a unique column builds its index under the lock: create the index concurrently'
  if (of('CONSTR_CHECK') || of('CONSTR_FOREIGN'))
    return 'add the constraint by itself, not valid, and validate it in a file of its own'
  return undefined
}

/** Evaluated once for all rows. */
const isStable = ({ FuncCall }: Fields): boolean => FuncCall?.funcname.at(-1).String.sval === 'now'

function constraintProblem(constraint: Fields): string | undefined {
  if (['CONSTR_CHECK', 'CONSTR_FOREIGN'].includes(constraint.contype))
    return constraint.skip_validation
      ? undefined
      : 'a constraint is checked for all rows under the lock: add it not valid, and validate it in a file of its own'
  if (['CONSTR_PRIMARY', 'CONSTR_UNIQUE', 'CONSTR_EXCLUSION'].includes(constraint.contype))
    return constraint.indexname
      ? undefined
      : 'this builds an index under the lock: create it concurrently, then add the constraint using index'
  return undefined
}

/** What only goes when no running version uses it: `-- unused since 1.4.0` above the statement says which. */
const REMOVED = new Set([
  'OBJECT_TABLE',
  'OBJECT_VIEW',
  'OBJECT_FUNCTION',
  'OBJECT_TYPE',
  'OBJECT_SEQUENCE',
  'OBJECT_MATVIEW',
])
const REMOVAL =
  'the version that runs beside may use this: once no supported version does, say so in a line `-- unused since <version>` above'

interface Context {
  readonly file: MigrationFile
  /** Tables that the same file creates: nobody uses them yet. */
  readonly created: ReadonlySet<string>
  readonly isUnused: boolean
  readonly indexesDropped: ReadonlySet<string>
}

const RULES: Readonly<Record<string, (statement: Fields, context: Context) => string | undefined>> = {
  IndexStmt({ concurrent, idxname, relation }, { file, created, indexesDropped }) {
    if (created.has(relation.relname)) return undefined
    if (!concurrent) return 'an index that is not built concurrently stops all writes to its table'
    if (file.run !== 'statements') return 'the first line must be `-- run: statement by statement`'
    if (!indexesDropped.has(idxname))
      return `a build that is broken off leaves an invalid index: begin with drop index concurrently if exists ${idxname}`
    return undefined
  },
  AlterTableStmt({ relation, cmds }, { file, created, isUnused }) {
    if (created.has(relation.relname)) return undefined
    for (const { AlterTableCmd: command } of cmds) {
      if (command.subtype === 'AT_DropColumn' && !isUnused) return REMOVAL
      if (command.subtype === 'AT_ValidateConstraint' && file.run !== 'statements')
        return 'validating scans the table, after a lock of its transaction was taken: the first line must be `-- run: statement by statement`'
      const problem = ALTERATIONS[command.subtype]?.(command)
      if (problem) return problem
    }
    return undefined
  },
  RenameStmt: () => 'the version that runs beside uses the previous name: add the new one beside it',
  DropStmt({ removeType, concurrent }, { isUnused }) {
    if (removeType === 'OBJECT_INDEX')
      return concurrent ? undefined : 'an index is dropped concurrently, else all of its table waits'
    return REMOVED.has(removeType) && !isUnused ? REMOVAL : undefined
  },
  UpdateStmt: (_, { file, created }) => wholeTable(_, file, created),
  DeleteStmt: (_, { file, created }) => wholeTable(_, file, created),
  LockStmt: () => 'no migration locks a table for longer than its own statement',
  TruncateStmt: () => 'truncating waits for all who use the table, and deletes data',
  VacuumStmt: () => 'vacuum is the operator’s',
  ClusterStmt: () => 'this rewrites the table under its lock',
  ReindexStmt: () => 'rebuilding indexes is the operator’s',
}

const wholeTable = (
  { relation }: Fields,
  file: MigrationFile,
  created: ReadonlySet<string>,
): string | undefined =>
  file.run === 'batches' || created.has(relation.relname)
    ? undefined
    : 'rows are changed in batches, in a file whose first line is `-- run: in batches`'

const UNUSED = /^--\s*unused since \d+\.\d+\.\d+/m

/** What of a migration blocks the service, or breaks the version that runs beside it on the new schema. */
export async function problemsOf(file: MigrationFile): Promise<string[]> {
  const sql = Buffer.from(file.sql)
  const { stmts = [] } = (await parse(file.sql)) as {
    stmts?: { stmt: Node; stmt_location?: number; stmt_len?: number }[]
  }
  // Each with the comments above it.
  let end = 0
  const statements = stmts.map(({ stmt, stmt_location: start = 0, stmt_len: length }) => {
    const from = end
    end = length === undefined ? sql.length : start + length + 1
    return { text: sql.subarray(from, end).toString(), stmt: stmt as Statement }
  })
  const of = (kind: string): Fields[] => statements.flatMap(({ stmt }) => stmt[kind] ?? [])
  const created = new Set<string>(of('CreateStmt').map(({ relation }) => relation.relname))
  const indexesDropped = new Set<string>(
    of('DropStmt')
      .filter(({ removeType, concurrent }) => removeType === 'OBJECT_INDEX' && concurrent)
      .flatMap(({ objects }) => objects.map(({ List }: Fields) => List.items.at(-1).String.sval)),
  )
  const problems = statements.flatMap(({ text, stmt }) => {
    const [kind, fields] = Object.entries(stmt)[0]!
    const problem = RULES[kind]?.(fields, { file, created, isUnused: UNUSED.test(text), indexesDropped })
    return problem ? [`${firstLine(text)}: ${problem}`] : []
  })
  if (file.run === 'batches' && statements.length !== 1)
    problems.push('a file that runs in batches has one statement')
  if (file.run !== 'transaction' && statementsOf(file).length !== statements.length)
    problems.push('each statement must end its line with a semicolon, and contain no such line')
  return problems
}

const firstLine = (text: string): string =>
  text
    .replace(/^(?:\s|--.*\n)*/, '')
    .split('\n')[0]!
    .slice(0, 100)

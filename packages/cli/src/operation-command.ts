import { text } from 'node:stream/consumers'
import type { ConsoleServices } from '@svc/console-api/console-services'
import { Failure, fail } from '@svc/contract/errors'
import type { AnyInput, Caller, Operation, Reply } from '@svc/server/http/operation'
import { bodyCheck } from '@svc/server/http/validator'
import type { Command } from 'commander'
import type { TObject, TSchema } from 'typebox'
import { addAssignment, assignmentsOf, readAssignments } from './assignments.ts'
import { AS_OWNER, commandCaller, ownerCaller, SIGN_IN } from './command-caller.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { printNoun } from './noun-commands.ts'
import { addFieldOptions, type FieldSchema, type Flag, keptAs, optionName } from './option-of-field.ts'
import { type Printed, printRows } from './print.ts'
import { flat } from './remote.ts'

/** Operations of the console, of any needs. */
type ConsoleOperation = Operation<ConsoleServices>
type Fields = Readonly<Record<string, unknown>>

/** What a command has besides the operation that it runs. */
export interface CommandFace {
  /** Its name in the group, such as `create`. */
  readonly name: string
  /** The summary of the operation by default. */
  readonly description?: string
  readonly example: string | readonly string[]
  /** What its help says after the options, before the examples. */
  readonly more?: string
  /** Fields that are arguments, after those of the path; a `?` after the name: it may be left out. */
  readonly by?: readonly string[]
  /** All its arguments, where they are not the fields of the path: those are options then, unless they are `given`. */
  readonly args?: readonly string[]
  /** Options besides the operation’s own, which `resolve` makes its fields of. */
  readonly extra?: Readonly<Record<string, FieldSchema>>
  /** Options that differ from the fields' own. */
  readonly flags?: Readonly<Record<string, Flag>>
  /** Fields that the command itself gives; `undefined` for one that `resolve` makes, or that it never has. */
  readonly given?: Fields
  /** The fields of the body are given with `--set field=value`. */
  readonly sets?: true
  /** An object among the fields, or a list of which one may be given: its fields are options too. */
  readonly one?: string
  /** The fields that are options; all by default. */
  readonly options?: readonly string[]
  /** It changes who may act, so the owner of the database may do it without an administrator. */
  readonly asOwner?: true
  /** Replaces what people write by what the operation has, such as a name by its id; of a list, it runs for each. */
  readonly resolve?: (
    given: Fields,
    context: CommandContext,
    caller: Caller,
  ) => Promise<Fields | readonly Fields[]>
  /** Its response is its rows: as JSON they are an array too, as of `list`. */
  readonly rows?: true
  /** With which fields it runs again, where a response of rows says that more remains. */
  readonly again?: (response: never) => Fields | undefined
  /** An operation that an option runs in its place, such as one that only checks. */
  readonly or?: Pick<CommandFace, 'shown' | 'fails' | 'rows'> & {
    readonly option: string
    readonly description: string
    readonly operation: Operation
  }
  /** Whether the exit code is 1, although it was carried out. */
  readonly fails?: (response: never) => boolean
  /** What people read of the response; by default its fields. Of a list, its rows. */
  readonly shown?: (response: never) => object | readonly object[]
  /** What is said besides, for people. */
  readonly note?: (response: never) => string | undefined
}

/** A part of a request, by its schema. */
type Part = 'params' | 'query' | 'body'
const PARTS = ['params', 'query', 'body'] as const

const schemaOf = (operation: ConsoleOperation, part: Part): TObject | undefined =>
  operation[part] as TObject | undefined

const fieldsOf = (schema: TObject | undefined): Readonly<Record<string, FieldSchema>> =>
  (schema?.properties ?? {}) as unknown as Readonly<Record<string, FieldSchema>>

const requiredOf = (schema: TObject | undefined): readonly string[] =>
  (schema as { readonly required?: readonly string[] } | undefined)?.required ?? []

const plain = (argument: string): string => argument.replace(/[?.]+$/, '')

const operations = new WeakMap<Command, ConsoleOperation>()

/** The operation that a command runs, where it runs one. */
export const operationOf = (command: Command): ConsoleOperation | undefined => operations.get(command)

/** A command that runs an operation of the console in this process: its arguments and options are the operation's fields. */
export function addOperation<S extends ConsoleServices>(
  group: Command,
  operation: Operation<S>,
  face: CommandFace,
): void {
  const run = operation as unknown as ConsoleOperation
  const { name, by = [], more, example, sets } = face
  const args = face.args ?? [...Object.keys(fieldsOf(schemaOf(run, 'params'))), ...by]
  const named = args.map((each) => (each.endsWith('?') ? `[${each.slice(0, -1)}]` : `<${each}>`))
  const command = group
    .command([name, ...named].join(' '))
    .description(face.description ?? lowered(run.summary))
  operations.set(command, run)
  addOptions(command, run, face, args.map(plain))
  const settable = sets && schemaOf(run, 'body')
  if (settable) command.requiredOption('--set <field=value>', assignmentsOf(settable), addAssignment)
  if (face.asOwner) command.option(...AS_OWNER)
  const examples = [example].flat().map((line) => `\n  ${line}`)
  command
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${more === undefined ? '' : `\n${more}\n`}\nExample${examples.length > 1 ? 's' : ''}:${examples.join('')}`,
    )
    .action(async (...given: readonly unknown[]) => {
      const options = given.at(-2) as Given
      const texts = Object.fromEntries(args.map((each, n) => [plain(each), given[n]]))
      const chosen = inPlaceOf(run, face, options)
      const as = options.asOwner ? `${group.name()} ${name}` : undefined
      const responses = await withInstallation((context) =>
        respond(context, chosen, { options, texts, args, as }),
      )
      print(responses, chosen.face, options.json ?? false)
    })
}

type Given = Fields & Printed & { readonly asOwner?: boolean }

/** What the options choose: the operation, or the one in its place. */
function inPlaceOf(run: ConsoleOperation, face: CommandFace, options: Given) {
  const { or } = face
  if (!or || options[keptAs(or.option, { name: or.option })] !== true) return { run, face }
  const { operation, option: _, description: _text, ...instead } = or
  const { note: _note, shown: _shown, fails: _fails, rows: _rows, ...others } = face
  return {
    run: operation as unknown as ConsoleOperation,
    face: { ...others, ...instead },
  }
}

interface Call {
  readonly options: Given
  readonly texts: Fields
  readonly args: readonly string[]
  /** The command, where the owner of the database runs it. */
  readonly as: string | undefined
}

/** One response, or one for each that the command names. */
async function respond(
  context: CommandContext,
  { run, face }: { readonly run: ConsoleOperation; readonly face: CommandFace },
  { options, texts, args, as }: Call,
): Promise<Response | readonly Response[]> {
  const fields = { ...fieldsGiven(run, face, options), ...texts, ...face.given }
  const caller = as === undefined ? await commandCaller(context, run) : await ownerCaller(context, as)
  const respondTo = async (given: Fields): Promise<Response> => {
    const input = inputOf(run, given, face.sets ? options['set'] : undefined)
    const response = await callOperation(context, run, caller, input).catch((error: unknown) => {
      throw inOptions(error, args, face)
    })
    const more = face.again?.(response.body as never)
    if (more === undefined) return response
    const rest = await respondTo({ ...given, ...more })
    return { ...rest, body: { data: [response, rest].flatMap(({ body }) => (body as Rows).data) } }
  }
  const resolved = (await face.resolve?.(fields, context, caller)) ?? fields
  if (!Array.isArray(resolved)) return respondTo(resolved as Fields)
  const responses: Response[] = []
  for (const each of resolved as readonly Fields[]) responses.push(await respondTo(each))
  return responses
}

const lowered = (summary: string): string => summary[0]!.toLowerCase() + summary.slice(1)

function addOptions(
  command: Command,
  run: ConsoleOperation,
  face: CommandFace,
  args: readonly string[],
): void {
  const { extra = {}, flags = {}, given = {}, options, or, sets } = face
  for (const part of PARTS) {
    if (part === 'body' && sets) continue
    const schema = schemaOf(run, part)
    const one = objectOf(schema, face)
    const fields = Object.entries({ ...fieldsOf(one), ...fieldsOf(schema) }).filter(
      ([field]) =>
        !args.includes(field) &&
        !Object.hasOwn(given, field) &&
        field !== face.one &&
        (options?.includes(field) ?? true),
    )
    const isNeeded = face.one !== undefined && requiredOf(schema).includes(face.one)
    const required = [...requiredOf(schema), ...(isNeeded ? requiredOf(one) : [])]
    addFieldOptions(command, Object.fromEntries(fields), { flags, required })
  }
  addFieldOptions(command, extra, { flags })
  if (or) command.option(`--${or.option}`, or.description)
}

/** The object of which the fields are options. */
function objectOf(schema: TObject | undefined, { one }: CommandFace): TObject | undefined {
  const found = one === undefined ? undefined : fieldsOf(schema)[one]
  return (found?.items ?? found) as TObject | undefined
}

const valuesOf = (fields: object, { flags = {} }: CommandFace, options: Fields): Fields => {
  const given = Object.keys(fields).map((field) => [field, options[keptAs(field, flags[field])]] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** The fields that the options give. */
function fieldsGiven(run: ConsoleOperation, face: CommandFace, options: Fields): Fields {
  const whole = PARTS.map((part) => valuesOf(fieldsOf(schemaOf(run, part)), face, options))
  const body = schemaOf(run, 'body')
  const one = valuesOf(fieldsOf(objectOf(body, face)), face, options)
  const isList = face.one !== undefined && fieldsOf(body)[face.one]?.items !== undefined
  return Object.assign(
    valuesOf(face.extra ?? {}, face, options),
    ...whole,
    Object.keys(one).length > 0 && { [face.one!]: isList ? [one] : one },
  ) as Fields
}

/** The fields by the part of the request that has them. */
function inputOf(run: ConsoleOperation, fields: Fields, assignments: unknown): Record<Part, unknown> {
  const of = (part: Part) => {
    const schema = schemaOf(run, part)
    if (!schema) return undefined
    if (part === 'body' && assignments) return readAssignments(schema, assignments as readonly string[])
    const names = Object.keys(fieldsOf(schema)).filter((name) => fields[name] !== undefined)
    return Object.fromEntries(names.map((name) => [name, fields[name]]))
  }
  return { params: of('params'), query: of('query'), body: of('body') }
}

/** The rows of a response that has nothing besides. */
interface Rows {
  readonly data: readonly object[]
}

interface Response {
  readonly body: object
  /** Whether nothing has happened yet: a second person must approve it. */
  readonly waits: boolean
}

/** The response to an operation that this process carries out. Throws what the service would fail with. */
export async function callOperation<S extends ConsoleServices>(
  { config, services }: CommandContext,
  operation: Operation<S>,
  caller: Caller,
  input: Partial<Record<Part, unknown>> & { readonly rawBody?: Buffer },
): Promise<Response> {
  const run = operation as unknown as ConsoleOperation
  if (run.sandboxOnly && config.SVC_MODE !== 'sandbox') fail('route_not_found')
  for (const part of PARTS) {
    const schema: TSchema | undefined = run[part]
    const isRead = part !== 'body' || input.rawBody === undefined
    const invalid = schema && isRead && bodyCheck(schema)(input[part])
    if (invalid) throw new Failure('validation_failed', invalid)
  }
  const { consoleServices } = await import('@svc/console-api/console-services')
  const handle = run.mount(consoleServices(services))
  const reply: Reply = await handle({
    params: undefined,
    query: undefined,
    body: undefined,
    rawBody: Buffer.alloc(0),
    ...input,
    caller,
    headers: {},
    requestId: '',
    address: 'command line',
    countAs: async () => undefined,
    ciphertextHash: undefined,
  } satisfies AnyInput)
  const body = typeof reply.body === 'string' ? reply.body : await text(reply.body)
  return { body: body === '' ? {} : (JSON.parse(body) as object), waits: reply.status === 202 }
}

/** Where the nouns are listed that an operation does not find. */
export const LISTED_BY: Readonly<Record<string, string>> = {
  alert: 'alerts',
  bank_account: 'bank-account',
  bank_holiday: 'calendar',
  card: 'cards',
  card_account: 'card-account',
  coin_config: 'coins',
  company: 'company',
  dispute: 'dispute',
  member: 'member',
  merchant: 'merchant',
  notice: 'notice',
  operator: 'operator',
  partner: 'partner',
  payment: 'payments',
  payout: 'payout',
  qr_code: 'qr-code',
  refund: 'refund',
  spend_rule: 'spend-rules',
  user: 'user',
  webhook_endpoint: 'webhook',
}

/** Of what was not found, where it is listed. */
const withList = (failure: Failure): Failure => {
  const [, noun = ''] = /^(.*)_not_found$/.exec(failure.code) ?? []
  const group = LISTED_BY[noun]
  const description = `${failure.description}. List: svc admin ${group} list`
  return group === undefined ? failure : new Failure(failure.code, { description, cause: failure.cause })
}

/** Names the options where a failure names fields. */
function inOptions(error: unknown, args: readonly string[], { flags = {} }: CommandFace): unknown {
  if (!(error instanceof Failure)) return error
  if (error.code === 'step_up_required') return new Failure(error.code, { description: SIGN_IN })
  if (error.errors.length === 0) return withList(error)
  const names = new Set(args.map(plain))
  const messages = error.errors.map(({ message, pointer }) => {
    const [, field = ''] = pointer.split('/')
    if (field === '' || !message.startsWith(field)) return message
    const option = names.has(field) ? `<${field}>` : `--${flags[field]?.name ?? optionName(field)}`
    return `${option}${message.slice(field.length)}`
  })
  return new Failure(error.code, {
    description: messages.join('; '),
    errors: error.errors,
    cause: error.cause,
  })
}

/** Of what changes who may act: that it waits. */
export const waitsForAdministrator = ({
  approvalId,
}: {
  readonly approvalId?: string
}): string | undefined =>
  approvalId === undefined
    ? undefined
    : `A second administrator must approve it: svc admin operator approve ${approvalId}, or under Operators in the console.`

const waitsForApproval = ({ approvalId }: { readonly approvalId: string }): string =>
  `Nothing is posted yet: another operator approves it with: svc admin approval approve ${approvalId}`

function print(responses: Response | readonly Response[], face: CommandFace, json: boolean): void {
  const all = [responses].flat() as readonly Response[]
  const bodies = all.map(({ body, waits }) => {
    if (waits) return body
    const whole = face.rows ? (body as Rows).data : body
    return json ? whole : (face.shown?.(body as never) ?? whole)
  })
  const shown = Array.isArray(responses) ? bodies : bodies[0]!
  if (Array.isArray(shown) && !json) printRows((shown as readonly object[]).map(flat), false)
  else printNoun(shown, json)
  for (const { body, waits } of all) {
    const note = waits ? waitsForApproval(body as never) : face.note?.(body as never)
    if (note !== undefined) process.stderr.write(`${note}\n`)
    if (!waits && face.fails?.(body as never)) process.exitCode = 1
  }
}

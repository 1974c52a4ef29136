import type { FailureDetails } from '@svc/contract/errors'
import type { FieldError, FieldRule, RequestPart } from '@svc/contract/field-errors'
import { pointerTo, printable } from '@svc/contract/field-errors'
import type { FastifySchemaValidationError } from 'fastify'
import { nearest } from './suggestions.ts'

const ERRORS_MAX = 20

interface AjvError extends FastifySchemaValidationError {
  /** Present because the validator runs with `verbose`. Only the type of `data` is read: values are not repeated. */
  readonly parentSchema?: { readonly 'x-rule'?: string; readonly properties?: object }
  readonly data?: unknown
  /** Of an error in the name of a property. */
  readonly propertyName?: string
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => printable(step.replaceAll('~1', '/').replaceAll('~0', '~')))

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
const counted = (count: unknown, noun: string, nouns: string): string =>
  `${String(count)} ${count === 1 ? noun : nouns}`
const characters = (count: unknown): string => counted(count, 'character', 'characters')
const entries = (count: unknown): string => counted(count, 'entry', 'entries')

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && !Number.isInteger(value) ? 'number with a fraction' : typeof value
}

/** What must be true of the field, and the rule's stable name. */
type Broken = readonly [rule: FieldRule, mustBe: string]

const mustBeOf = (types: readonly string[], value: unknown): Broken => {
  const sent = typeOf(value)
  return ['type', `must be ${types.map(article).join(' or ')}, not ${sent === 'null' ? sent : article(sent)}`]
}

const EMPTY: Broken = ['not_empty', 'must not be empty']

const RULES: Readonly<Record<string, (limit: unknown) => Broken>> = {
  minLength: (limit) =>
    limit === 1
      ? ['not_empty', 'must not be empty']
      : ['min_length', `must have at least ${characters(limit)}`],
  maxLength: (limit) => ['max_length', `must have at most ${characters(limit)}`],
  minItems: (limit) => (limit === 1 ? EMPTY : ['min_items', `must have at least ${entries(limit)}`]),
  maxItems: (limit) => ['max_items', `must have at most ${entries(limit)}`],
  minProperties: (limit) => (limit === 1 ? EMPTY : ['min_items', `must have at least ${entries(limit)}`]),
  maxProperties: (limit) => ['max_items', `must have at most ${entries(limit)}`],
  uniqueItems: () => ['unique_items', 'must not contain an entry twice'],
  minimum: (limit) => ['minimum', `must be at least ${String(limit)}`],
  maximum: (limit) => ['maximum', `must be at most ${String(limit)}`],
}

function brokenRule({ keyword, params, data, message, parentSchema }: AjvError): Broken {
  const rule = parentSchema?.['x-rule']
  const known = RULES[keyword]?.(params['limit'])
  if (data === '' && keyword === 'minLength') return EMPTY
  // A rule in words says more than a length that is too short; a text that is too long may be right otherwise.
  if (known) return known[0] === 'min_length' && rule ? ['min_length', rule] : known
  switch (keyword) {
    case 'type':
      return mustBeOf([params['type']].flat().map(String), data)
    case 'enum':
      return ['enum', `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`]
    case 'pattern':
    case 'multipleOf':
    case 'format':
      return ['format', data === '' ? EMPTY[1] : (rule ?? 'has an invalid format')]
    default:
      return ['invalid', rule ?? message ?? 'is not valid']
  }
}

/** The first broken rule of each field, in the order of the schema. */
class FieldErrors {
  readonly #part: RequestPart
  readonly #byPointer = new Map<string, FieldError>()
  /** Types that the branches of an `anyOf` ask for, until the `anyOf` itself is reported. */
  readonly #branchTypes = new Map<string, string[]>()

  constructor(part: RequestPart) {
    this.#part = part
  }

  get all(): readonly FieldError[] {
    return [...this.#byPointer.values()]
  }

  get isFull(): boolean {
    return this.#byPointer.size === ERRORS_MAX
  }

  add(error: AjvError): void {
    const { keyword, params, instancePath, schemaPath } = error
    const steps = stepsOf(instancePath)
    if (keyword === 'required') {
      const rule = error.parentSchema?.['x-rule'] ?? 'is required'
      this.#put([...steps, printable(String(params['missingProperty']))], ['required', rule])
    } else if (keyword === 'additionalProperties') {
      const name = printable(String(params['additionalProperty']))
      const meant = nearest(name, Object.keys(error.parentSchema?.properties ?? {}))
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      this.#put([...steps, name], ['unknown_field', `is not a known field${hint}`])
    } else if (keyword === 'type' && /\/anyOf\/\d+\/type$/.test(schemaPath)) {
      const types = this.#branchTypes.get(instancePath) ?? []
      this.#branchTypes.set(instancePath, [...types, String(params['type'])])
    } else if (keyword === 'anyOf') {
      this.#put(steps, mustBeOf(this.#branchTypes.get(instancePath) ?? ['valid value'], error.data))
    } else if (error.propertyName === undefined) {
      this.#put(
        steps,
        keyword === 'propertyNames' ? ['invalid', 'has a name that is not valid'] : brokenRule(error),
      )
    } else this.#put(steps, brokenRule({ ...error, data: error.propertyName }), 'the names in ')
  }

  #put(steps: readonly string[], [rule, mustBe]: Broken, prefix = ''): void {
    const pointer = pointerTo(...steps)
    if (this.#byPointer.has(pointer)) return
    const name = steps.join('.') || (this.#part === 'body' ? 'the body' : `the ${this.#part}`)
    this.#byPointer.set(pointer, { in: this.#part, pointer, rule, message: `${prefix}${name} ${mustBe}` })
  }
}

const PARTS: Readonly<Record<string, RequestPart>> = {
  querystring: 'query',
  params: 'path',
  headers: 'header',
}

/** Decision F4: every field that breaks a rule, and the rule, never its value; the first 20 of them. */
export function invalidFields(
  errors: readonly FastifySchemaValidationError[],
  context = 'body',
): Required<Pick<FailureDetails, 'description' | 'errors'>> {
  const found = new FieldErrors(PARTS[context] ?? 'body')
  let more = false
  for (const error of errors) {
    if (error.keyword === 'if') continue
    more = found.isFull
    if (more) break
    found.add(error)
  }
  const { all } = found
  const messages = all.map(({ message }) => message)
  return { description: [...messages, ...(more ? ['and more'] : [])].join('; '), errors: all }
}

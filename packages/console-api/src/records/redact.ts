import type { TSchema } from 'typebox'

type Properties = Readonly<Record<string, Schema>>

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Properties
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Texts that are shown as they are, by name: references and names of things, nothing about a person, no secret. */
const PLAIN = new Set([
  'createdOn',
  'maskedNumber',
  'modifiedOn',
  'refundedOn',
  'revokedOn',
  'expiresOn',
  'event',
  'expiry',
  'grant_type',
  'limit',
  'loadAmount',
  'occurredOn',
  'referenceNumber',
  'requestId',
  'scope',
  'tr',
  'utr',
  'validAt',
  'validFrom',
  'validTo',
  'createdFrom',
  'createdTo',
])
/** Our ids reveal nothing by themselves, under whatever name. */
const OWN_ID = /^[a-z]{2,6}_[0-9a-z]{26}$/
const HARMLESS = /^[\w .:+/-]{1,80}$/
/** What may be a card number, however it is written. */
const CARD_NUMBER = /\d(?:[ -]?\d){11,18}/
const ITEMS_MAX = 5

/**
 * A body as the request log may keep it, and an event as a viewer may see it (decision O4): fields that the operation's schema knows, of the type that it
 * says; what is text is masked unless its name is on the list. What is not on the list is not shown.
 */
export function redact(schema: TSchema, value: unknown): unknown {
  return redacted(schema as Schema, value, '')
}

function redacted(schema: Schema, value: unknown, name: string): unknown {
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') {
    const isNumber = schema.type === 'number' || schema.type === 'integer'
    return isNumber && Math.abs(value) < 1e12 ? value : '(number)'
  }
  if (typeof value === 'string') return redactedText(schema, value, name)
  if (Array.isArray(value))
    return schema.items
      ? value.slice(0, ITEMS_MAX).map((item) => redacted(schema.items!, item, name))
      : `(${value.length} items)`
  return typeof value === 'object' ? redactedObject(schema, value as Record<string, unknown>) : undefined
}

/** Of one of several shapes, those of the one that has the most of these names. */
function propertiesFor({ anyOf = [], properties }: Schema, names: readonly string[]): Properties | undefined {
  const known = (one: Properties) => names.filter((name) => Object.hasOwn(one, name)).length
  const shapes = anyOf.flatMap((shape) => (shape.properties ? [shape.properties] : []))
  return properties ?? shapes.toSorted((a, b) => known(b) - known(a))[0]
}

function redactedObject(schema: Schema, value: Record<string, unknown>): unknown {
  const names = Object.keys(value)
  const properties = propertiesFor(schema, names)
  // Names that callers choose may say as much as their values.
  if (!properties) return `(${names.length} fields)`
  const known = names.filter((name) => Object.hasOwn(properties, name))
  const shown = Object.fromEntries(
    known.map((name) => [name, redacted(properties[name]!, value[name], name)]),
  )
  const unknown = names.length - known.length
  return unknown > 0 ? { ...shown, '(unknown fields)': unknown } : shown
}

function redactedText(schema: Schema, value: string, name: string): string {
  if (schema.enum?.includes(value) || OWN_ID.test(value)) return value
  if (PLAIN.has(name) && HARMLESS.test(value) && !CARD_NUMBER.test(value)) return value
  const length = `(${value.length} characters)`
  if (/mobile$/i.test(name) && /^\d{10}$/.test(value)) return `••••••${value.slice(-4)}`
  const [, first, domain] = /^(.)[^@]*@([\w.-]{1,80})$/.exec(value) ?? []
  if (/email$/i.test(name) && first) return `${first}•••@${domain}`
  return `••• ${length}`
}

/** The description of a failure names fields, and an unknown one has the name that its caller gave it. */
export const redactDescription = (description: string): string =>
  description
    .split(/([\s:;,])/)
    .map((part) => (part.includes('@') ? '•••' : part.replace(/\d{9,}/g, '•••')))
    .join('')

/** A path without what a caller may have put there by mistake: our ids stay, other long or numeric parts go. */
export const redactPath = (path: string): string =>
  path
    .slice(0, 500)
    .split('/')
    .slice(0, 12)
    .map((part) =>
      OWN_ID.test(part) || (/^[\w.:-]{0,40}$/.test(part) && !/\d{9}|_.{24}/.test(part)) ? part : '•••',
    )
    .join('/')

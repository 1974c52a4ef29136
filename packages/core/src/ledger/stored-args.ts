import { paise } from '@svc/kernel/money'
import { type StaticDecode, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'

const paiseAs = (pattern: string) =>
  Type.Codec(Type.String({ pattern }))
    .Decode((digits) => paise(BigInt(digits)))
    .Encode(String)
const paiseOrNoneAs = (pattern: string) =>
  Type.Codec(Type.Union([Type.String({ pattern }), Type.Null()]))
    .Decode((digits) => (digits === null ? undefined : paise(BigInt(digits))))
    .Encode((amount) => (amount === undefined ? null : String(amount)))

const DIGITS = '^[0-9]{1,18}$'
const SIGNED = '^-?[0-9]{1,18}$'

/** Paise as JSON has them; signed: of what may be below zero. */
export const StoredPaise = paiseAs(DIGITS)
export const StoredSignedPaise = paiseAs(SIGNED)
/** The same where there may be none. */
export const StoredPaiseOrNone = paiseOrNoneAs(DIGITS)
export const StoredSignedPaiseOrNone = paiseOrNoneAs(SIGNED)
export const StoredTextOrNone = Type.Codec(Type.Union([Type.String(), Type.Null()]))
  .Decode((text) => text ?? undefined)
  .Encode((text) => text ?? null)
/** Bytes, such as a notice that the bank signed. */
export const StoredBytes = Type.Codec(Type.String({ pattern: '^[A-Za-z0-9+/=]*$' }))
  .Decode((text) => Buffer.from(text, 'base64'))
  .Encode((bytes) => Buffer.from(bytes).toString('base64'))
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** Arguments of a command as JSON, and back: what they are says the command's own schema. */
export interface StoredArgs<Args> {
  readonly encode: (args: unknown) => unknown
  /** Throws where what is stored are no arguments of the command. */
  readonly decode: (stored: unknown) => Args
}

/** What a schema names of a value: what it requires and the value lacks is undefined, which its codec stores as null. */
function named(schema: TSchema, value: unknown): unknown {
  const { properties, required = [] } = schema as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  if (!properties || typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => fields[name] !== undefined || required.includes(name))
      .map(([name, of]) => [name, named(of, fields[name])]),
  )
}

/** What the schema does not name is not stored. */
export const storedArgs = <S extends TSchema>(schema: S): StoredArgs<StaticDecode<S>> => ({
  encode: (args) => Value.Encode(schema, named(schema, args)),
  decode: (stored) => Value.Decode(schema, stored),
})

import { invariant } from '@svc/kernel/invariant'
import type { Operation } from '@svc/server/http/operation'
import type { TSchema } from 'typebox'
import type { ConsoleServices } from '../console-services.ts'
import { isRevealed } from './reveals.ts'

/** How a field that says who a person is looks until it is revealed. */
const MASKS = {
  name: (text: string) =>
    text
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => `${[...word][0]}•••`)
      .join(' '),
  /** Of e-mail and UPI: whom it is at says little of the person. */
  address: (text: string) => {
    const [, first, domain] = /^(.)[^@]*@([\w.-]+)$/u.exec(text) ?? []
    return first === undefined ? '•••' : `${first}•••@${domain}`
  },
  mobile: (text: string) => `••••••${text.slice(-4)}`,
  account: (text: string) => `••••${text.slice(-4)}`,
  text: () => '•••',
} as const
type Personal = keyof typeof MASKS

/** Schemas mark their personal fields with `x-personal`. */
interface Schema {
  readonly 'x-personal'?: Personal
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

type Mask = (value: unknown) => unknown

const maskText = (kind: Personal, text: string): string => (text === '' ? '' : MASKS[kind](text))

/** The name and the address of a person, wherever they are not fields of their own. */
export const maskPerson = (text: string): string => {
  if (text.includes('@')) return MASKS.address(text)
  return /^\d+$/.test(text) ? MASKS.mobile(text) : MASKS.name(text)
}

/** Masks what the schema marks; `undefined` when it marks nothing. */
function maskOf(schema: Schema): Mask | undefined {
  const kind = schema['x-personal']
  if (kind)
    return (value) => {
      if (typeof value === 'string') return maskText(kind, value)
      // Names that merchants choose may say as much as their values.
      return value === undefined || value === null ? value : { '•••': '•••' }
    }
  const ofItem = schema.items && maskOf(schema.items)
  if (ofItem) return (value) => (Array.isArray(value) ? value.map(ofItem) : value)
  const ofFields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const mask = maskOf(field)
    return mask ? [[name, mask] as const] : []
  })
  if (ofFields.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const given = value as Record<string, unknown>
    const masked = ofFields
      .filter(([name]) => Object.hasOwn(given, name))
      .map(([name, mask]) => [name, mask(given[name])])
    return { ...given, ...Object.fromEntries(masked) }
  }
}

/** The operation with its personal data masked, except of what its path names once the operator has revealed it (decision O7). */
export function withMaskedPersons(operation: Operation<ConsoleServices>): Operation<ConsoleServices> {
  const mask = operation.auth === 'operator' ? maskOf(operation.result as TSchema as Schema) : undefined
  if (!mask) return operation
  return {
    ...operation,
    mount(services) {
      const handle = operation.mount(services)
      return async (input) => {
        const reply = await handle(input)
        if (await isRevealed(services, input)) return reply
        invariant(typeof reply.body === 'string', 'streams are made of lists that are masked')
        return { ...reply, body: JSON.stringify(mask(JSON.parse(reply.body))) }
      }
    },
  }
}

import type { Actor } from '@svc/server/http/operation'

/**
 * The key of a person who signs in, as the columns of the tables have it: an operator's id; of a member the tenant's and
 * the member's.
 */
export type PersonKey = readonly string[]

/** Who acts: a caller, or a person who signs in just now. */
export interface Person {
  readonly tenantId: string
  readonly actor?: Pick<Actor, 'actorId' | 'name' | 'isAccount'>
  /** A member's name. */
  readonly member?: string
}

/** One of the two kinds of people who sign in: the tables of both have one shape. */
export interface Audience {
  readonly who: 'operator' | 'member'
  /** The columns of a `PersonKey`. Only those of members are of a tenant, which comes first. */
  readonly keys: readonly string[]
}

/** Who use the console (decision O2). */
export const OPERATORS: Audience = { who: 'operator', keys: ['operator_id'] }
/** Who use the portal (decision O6). */
export const MEMBERS: Audience = { who: 'member', keys: ['tenant_id', 'member_id'] }

/** What a statement asks for first: that these columns, of a table with this alias, are its first parameters. */
export const whereKeys = (keys: readonly string[], alias = ''): string =>
  keys.map((key, n) => `${alias}${key} = $${n + 1}`).join(' and ')

/** The columns of the tenant alone, of those who have one. */
export const tenantKeys = ({ keys }: Audience): readonly string[] => keys.slice(0, -1)

/** Whether the person of a row has a passkey, or an app that a code has confirmed. */
export function hasSecondFactor({ who, keys }: Audience, person: string): string {
  const [passkeys, apps] = [`${who}_passkeys`, `${who}_totp`]
  const of = (factor: string) => keys.map((key) => `${factor}.${key} = ${person}.${key}`).join(' and ')
  return `(exists (select from ${passkeys} where ${of(passkeys)})
    or exists (select from ${apps} where ${of(apps)} and ${apps}.confirmed_at is not null))`
}

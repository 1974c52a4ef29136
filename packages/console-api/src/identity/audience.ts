/**
 * The key of a person who signs in, as the columns of the tables have it: an operator's id; of a member the tenant's and
 * the member's.
 */
export type PersonKey = readonly string[]

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
  const of = (factor: string) => keys.map((key) => `${factor}.${key} = ${person}.${key}`).join(' and ')
  return `(exists (select from ${who}_passkeys p where ${of('p')})
    or exists (select from ${who}_totp f where ${of('f')} and f.confirmed_at is not null))`
}

import { fail } from '@svc/contract/errors'
import type { RandomBytes } from '@svc/kernel/ids'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { acceptInvitationByName } from './accept-invitation.ts'
import type { Person } from './identity-provider.ts'
import { findOperator, type OperatorAccount } from './operator-store.ts'

const BY_SUBJECT = statement<{ operator_id: string }>(
  'operator_identity_find',
  'select operator_id from operator_identities where issuer = $1 and subject = $2',
)
const OF_OPERATOR = statement<{ subject: string }>(
  'operator_identity_of',
  'select subject from operator_identities where operator_id = $1 and issuer = $2',
)
const LINK = statement<{ operator_id: string }>(
  'operator_identity_link',
  `insert into operator_identities (issuer, subject, operator_id, linked_at) values ($1, $2, $3, $4)
   on conflict do nothing returning operator_id`,
)
const UNLINK = statement<{ operator_id: string }>(
  'operator_identity_unlink',
  'delete from operator_identities where operator_id = $1 returning operator_id',
)

/** What is known when the provider has named a person. */
interface Known {
  /** The operator whom this subject was linked to. */
  readonly linked?: OperatorAccount | undefined
  /** The operator of the name that the provider gives, and whether another subject is linked to them. */
  readonly named?: { readonly operator: OperatorAccount; readonly hasOther: boolean } | undefined
}

export type Admission =
  | { readonly kind: 'sign_in' | 'link'; readonly operator: OperatorAccount }
  /** Perhaps invited. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refuse'; readonly reason: 'disabled' | 'other_subject'; readonly name: string }

/** By the subject first: a name is given to another person some day (OpenID Connect Core section 5.7). */
export function decideAdmission({ linked, named }: Known): Admission {
  const operator = linked ?? named?.operator
  if (!operator) return { kind: 'unknown' }
  if (operator.disabledAt) return { kind: 'refuse', reason: 'disabled', name: operator.name }
  if (linked) return { kind: 'sign_in', operator: linked }
  return named?.hasOther
    ? { kind: 'refuse', reason: 'other_subject', name: operator.name }
    : { kind: 'link', operator }
}

async function findNamed(tx: Tx, { issuer, name }: Person): Promise<Known['named']> {
  const operator = name === undefined ? undefined : await findOperator(tx, name)
  if (operator?.name !== name || !operator) return undefined
  const others = await tx.query(OF_OPERATOR, [operator.operatorId, issuer])
  return { operator, hasOther: others.length > 0 }
}

interface AdmissionTools {
  readonly random: RandomBytes
  readonly now: Date
}

/** Whom the provider names: an operator by the subject or by the name, or else a person who is invited by the name. */
export async function admit(tx: Tx, { random, now }: AdmissionTools, person: Person): Promise<Admission> {
  const { issuer, subject, name } = person
  const [link] = await tx.query(BY_SUBJECT, [issuer, subject])
  const linked = link && (await findOperator(tx, link.operator_id))
  const admission = decideAdmission({ linked, named: linked ? undefined : await findNamed(tx, person) })
  if (admission.kind === 'unknown') {
    const operator = name === undefined ? undefined : await acceptInvitationByName(tx, { random, now }, name)
    if (!operator) return admission
    await linkTo(tx, person, operator, now)
    return { kind: 'link', operator }
  }
  if (admission.kind === 'link') await linkTo(tx, person, admission.operator, now)
  return admission
}

async function linkTo(tx: Tx, { issuer, subject }: Person, { operatorId }: OperatorAccount, now: Date) {
  const [linked] = await tx.query(LINK, [issuer, subject, operatorId, now])
  // Two first sign-ins at once: the next attempt finds the link.
  if (!linked) fail('single_sign_on_failed')
}

/** Forgets whom the provider knows an operator as; the next sign-in by the name links again. Returns whether there was such a link. */
export const unlinkIdentity = async (tx: Tx, operatorId: string): Promise<boolean> =>
  (await tx.query(UNLINK, [operatorId])).length > 0

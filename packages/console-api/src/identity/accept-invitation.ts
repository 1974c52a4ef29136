import { fail } from '@svc/contract/errors'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import {
  type AcceptTools,
  lockByToken,
  lockOpen,
  markAccepted,
  requireOpen,
  stateOf,
} from './invitation-store.ts'
import { findOperator, insertOperator, type OperatorAccount, setPasswordHash } from './operator-store.ts'

/** Creates the invited operator, or sets the password; of two attempts at once one fails with `invitation_used`. */
export async function acceptInvitationOf(
  tx: Tx,
  { keyring, random, now }: AcceptTools,
  token: string,
  passwordHash: string,
): Promise<OperatorAccount> {
  const invitation = requireOpen(await lockByToken(tx, keyring, token), now)
  const { name, resets, role } = invitation
  const operator =
    resets === null
      ? await insertOperator(tx, random, { name, role, passwordHash })
      : await replacePassword(tx, resets, passwordHash)
  await markAccepted(tx, invitation, operator.operatorId, now)
  return operator
}

/** The same for a person whom the identity provider names; `undefined` when this name is not invited. */
export async function acceptInvitationByName(
  tx: Tx,
  tools: Pick<AcceptTools, 'random' | 'now'>,
  name: string,
): Promise<OperatorAccount | undefined> {
  const invitation = await lockOpen(tx, name)
  if (invitation?.name !== name || invitation.resets !== null || stateOf(invitation, tools.now) !== 'open')
    return undefined
  const operator = await insertOperator(tx, tools.random, { name, role: invitation.role, passwordHash: null })
  await markAccepted(tx, invitation, operator.operatorId, tools.now)
  return operator
}

async function replacePassword(tx: Tx, operatorId: string, passwordHash: string): Promise<OperatorAccount> {
  const operator = await findOperator(tx, operatorId)
  if (!operator || operator.disabledAt) return fail('invitation_revoked')
  await setPasswordHash(tx, operatorId, passwordHash)
  recordAudit(tx, [{ action: 'operator.password_reset', target: operatorId }])
  return operator
}

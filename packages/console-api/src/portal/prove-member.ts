import { fail } from '@svc/contract/errors'
import type { Caller } from '@svc/server/http/operation'
import { isPassword } from '../identity/password.ts'
import type { Factor } from '../identity/proof-age.ts'
import type { MemberKey } from '../identity/second-factor-store.ts'
import { passwordOfMember } from './member-store.ts'
import { type PortalServices, writeAsMember } from './portal-services.ts'

export interface MemberName extends MemberKey {
  readonly name: string
}

/** From where a person proves who they are, and by which request. */
interface Place {
  readonly address: string
  readonly requestId: string
}

export const memberOf = ({ tenantId, member = '', actor }: Caller): MemberName => ({
  tenantId,
  memberId: actor!.actorId,
  name: member,
})

/** Throws `wrong_password`, and counts it. */
export async function requirePassword(
  services: PortalServices,
  { address, caller, requestId }: Place & { readonly caller: Caller },
  password: string | undefined,
): Promise<void> {
  const { config, database, failedMemberSignIns, memberGate } = services
  const who = memberOf(caller)
  await memberGate.enter(address, who.name)
  const hash = await database.read([who.tenantId], (tx) => passwordOfMember(tx, who.tenantId, who.memberId))
  // Who entered the sandbox by a click has none.
  const isRight = (hash === null && config.SVC_MODE === 'sandbox') || (await isPassword(hash, password ?? ''))
  if (isRight) return memberGate.passed(address, who.name)
  await failedMemberSignIns.record({ ...who, address, requestId })
  await memberGate.failed(address, who.name)
  fail('wrong_password')
}

/**
 * The second factor that the code proves, none where the member has none. Throws `second_factor_required` without a
 * code, and `wrong_code` or `second_factor_locked`; wrong ones are counted.
 */
export async function checkMemberCode(
  services: PortalServices,
  who: MemberName,
  { address, requestId }: Place,
  code: string | undefined,
): Promise<readonly Factor[]> {
  const { database, failedMemberSignIns, memberFactors, memberGate } = services
  const by = { member: who.name, requestId }
  const checked = await writeAsMember(database, who.tenantId, by, (tx) => memberFactors.check(tx, who, code))
  if (checked === 'none') return []
  if (checked !== 'wrong') return [checked]
  await failedMemberSignIns.record({ ...who, address, requestId, reason: 'wrong_code' })
  await memberGate.failed(address, who.name)
  return fail('wrong_code')
}

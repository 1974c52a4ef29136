import { fail } from '@svc/contract/errors'
import type { Person, PersonKey } from '../identity/audience.ts'
import type { SignInRequest } from '../identity/face.ts'
import { isPassword } from '../identity/password.ts'
import type { Factor } from '../identity/proof-age.ts'
import type { Admitted } from '../identity/sign-in-gate.ts'
import { type MemberKey, passwordOfMember } from './member-store.ts'
import { type PortalServices, writeAsMember } from './portal-services.ts'

export interface MemberName extends MemberKey {
  readonly name: string
}

/** From where a person proves who they are, and by which request. */
type Place = Pick<SignInRequest, 'address' | 'requestId'>

export const memberOf = ({ tenantId, member = '', actor }: Person): MemberName => ({
  tenantId,
  memberId: actor!.actorId,
  name: member,
})

export const keyOfMember = ({ tenantId, memberId }: MemberKey): PersonKey => [tenantId, memberId]

/** Throws `wrong_password`, and counts it. */
export async function requirePassword(
  services: PortalServices,
  { address, caller, headers, requestId }: SignInRequest & { readonly caller: Person },
  password: string | undefined,
): Promise<Admitted> {
  const { config, database, devices, failedMemberSignIns, signInGate } = services
  const who = memberOf(caller)
  const device = devices.find({ headers }, who.name, who.tenantId)
  const admitted = await signInGate.enter({ address, device, name: who.name })
  const hash = await database.read([who.tenantId], (tx) => passwordOfMember(tx, who.tenantId, who.memberId))
  // Who entered the sandbox by a click has none.
  const isRight =
    (hash === null && config.SVC_MODE === 'sandbox') ||
    (await isPassword(hash, password ?? '', admitted.isKnown))
  if (isRight) {
    await admitted.passed()
    return admitted
  }
  await failedMemberSignIns.record({ ...who, address, requestId })
  await admitted.failed()
  return fail('wrong_password')
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
  admitted: Admitted,
): Promise<readonly Factor[]> {
  const { database, failedMemberSignIns, secondFactor } = services
  const by = { member: who.name, requestId }
  const checked = await writeAsMember(database, who.tenantId, by, (tx) =>
    secondFactor.check(tx, keyOfMember(who), code),
  )
  if (checked === 'none') return []
  if (checked !== 'wrong') return [checked]
  await failedMemberSignIns.record({ ...who, address, requestId, reason: 'wrong_code' })
  await admitted.failed()
  return fail('wrong_code')
}

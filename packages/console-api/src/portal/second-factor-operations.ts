import { fail } from '@svc/contract/errors'
import { recordActs } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, idParam } from '../console-schema.ts'
import { PasswordAndCode, PROOF_FAILURES } from '../identity/prove-operator.ts'
import {
  FirstCode,
  labelOf,
  RecoveryCodes,
  SecondFactorRecord,
  SecondFactorStart,
  startToWire,
  stateToWire,
} from '../identity/second-factor-records.ts'
import { MEMBER_FACTORS } from '../identity/second-factor-store.ts'
import { resetMemberFactor } from './member-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'
import { checkMemberCode, memberOf, requirePassword } from './prove-member.ts'
import { MemberSessionRecord, memberSessionToWire } from './session-operations.ts'

const TAG = 'Second factor'
const PATH = `${PORTAL_API}/session/second-factor`

/** The own account, which a viewer has too. */
const own = { ...memberOperation, tag: TAG, role: 'viewer' } as const

export const showMemberFactor = query({
  ...own,
  id: 'portal.showSecondFactor',
  beforeSecondFactor: true,
  method: 'GET',
  path: PATH,
  summary: 'Show your second factor',
  result: SecondFactorRecord,
  errors: [],
  mount({ config, database, memberFactors }: PortalServices) {
    return async ({ caller }) => {
      const state = await database.read([caller.tenantId], (tx) => memberFactors.state(tx, memberOf(caller)))
      return { body: stateToWire(state, config.BUSINESS_TIME_ZONE) }
    }
  },
})

export const startMemberFactor = query({
  ...own,
  id: 'portal.startSecondFactor',
  beforeSecondFactor: true,
  stepUp: true,
  method: 'POST',
  path: PATH,
  summary: 'Begin to set up an authenticator app',
  description: 'It counts once `confirm` has taken a code of the app; until then this can be called again.',
  result: SecondFactorStart,
  errors: ['second_factor_is_on'],
  mount(services: PortalServices) {
    return async (input) => {
      const who = memberOf(input.caller)
      const label = labelOf(services.publicUrl(), who.name)
      const begun = await asMember(services, input, (tx) => services.memberFactors.begin(tx, who, label))
      return { body: startToWire(begun) }
    }
  },
})

export const confirmMemberFactor = query({
  ...own,
  id: 'portal.confirmSecondFactor',
  beforeSecondFactor: true,
  stepUp: true,
  method: 'POST',
  path: `${PATH}/confirm`,
  summary: 'Confirm an authenticator app by its first code',
  body: FirstCode,
  result: RecoveryCodes,
  errors: ['second_factor_not_found', 'second_factor_is_on', 'wrong_code', 'second_factor_locked'],
  mount(services: PortalServices) {
    const { memberFactors, members } = services
    return async (input) => {
      const session = await members.current(input)
      const recoveryCodes = await asMember(services, input, async (tx) => {
        const codes = await memberFactors.confirm(tx, session, input.body.code)
        if (codes) await members.addFactor(tx, session, 'totp')
        return codes
      })
      return { body: JSON.stringify({ recoveryCodes: recoveryCodes ?? fail('wrong_code') }) }
    }
  },
})

export const renewMemberRecoveryCodes = query({
  ...own,
  id: 'portal.renewRecoveryCodes',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/recovery-codes`,
  summary: 'Get new recovery codes',
  description: 'Those of before stop working.',
  result: RecoveryCodes,
  errors: ['second_factor_not_found'],
  mount(services: PortalServices) {
    const { memberFactors } = services
    return async (input) => {
      const who = memberOf(input.caller)
      const recoveryCodes = await asMember(services, input, async (tx) => {
        const { confirmedAt } = await memberFactors.state(tx, who)
        if (!confirmedAt) return fail('second_factor_not_found')
        const { memberId: target, name: member, tenantId } = who
        const act = { action: 'member.recovery_codes_renewed', target, member, tenantId }
        recordActs(tx, [{ ...act, requestId: input.requestId }])
        return memberFactors.renewRecoveryCodes(tx, who)
      })
      return { body: JSON.stringify({ recoveryCodes }) }
    }
  },
})

export const removeOwnMemberFactor = query({
  ...own,
  id: 'portal.removeOwnSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: PATH,
  summary: 'Remove your authenticator app',
  description: 'Its recovery codes stop working too.',
  result: closed({ removed: Type.Boolean() }),
  errors: ['second_factor_not_found'],
  mount(services: PortalServices) {
    return async (input) => {
      const removed = await asMember(services, input, (tx) =>
        MEMBER_FACTORS.remove(tx, memberOf(input.caller)),
      )
      return { body: JSON.stringify({ removed: removed || fail('second_factor_not_found') }) }
    }
  },
})

export const resetOwnMemberFactor = query({
  ...memberOperation,
  id: 'portal.resetSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: `${PORTAL_API}/members/:memberId/second-factor`,
  tag: TAG,
  summary: 'Reset the second factor of a member',
  description: 'For one who has lost the device. Ends all sessions of the member.',
  role: 'admin',
  params: idParam('memberId'),
  result: closed({ removed: Type.Boolean() }),
  errors: ['member_not_found', 'own_membership', 'second_factor_not_found'],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId, actor } = input.caller
      const { memberId } = input.params
      if (memberId === actor!.actorId) fail('own_membership')
      const reset = await asMember(services, input, (tx) => resetMemberFactor(tx, tenantId, memberId))
      const { removed } = reset ?? fail('member_not_found')
      return { body: JSON.stringify({ removed: removed || fail('second_factor_not_found') }) }
    }
  },
})

export const stepUpMember = query({
  ...own,
  id: 'portal.stepUp',
  beforeSecondFactor: true,
  method: 'POST',
  path: `${PORTAL_API}/session/step-up`,
  summary: 'Prove again that it is you',
  description:
    'Money moves, keys, webhook endpoints, changes to members, and what cannot be undone need a sign-in of at most `CONSOLE_STEP_UP_MINUTES` ago.',
  body: closed(PasswordAndCode),
  result: MemberSessionRecord,
  errors: [...PROOF_FAILURES],
  mount(services: PortalServices) {
    const { members } = services
    return async (input) => {
      const { password, code } = input.body
      await requirePassword(services, input, password)
      const factors = await checkMemberCode(services, memberOf(input.caller), input, code)
      const session = await members.current(input)
      await asMember(services, input, (tx) => members.renew(tx, session, ['password', ...factors]))
      return { body: await memberSessionToWire(await members.current(input), services) }
    }
  },
})

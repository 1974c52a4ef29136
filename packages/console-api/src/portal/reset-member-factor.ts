import { fail } from '@svc/contract/errors'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, idParam } from '../console-schema.ts'
import { resetMemberFactor } from './member-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

export const resetOwnMemberFactor = query({
  ...memberOperation,
  id: 'portal.resetSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: `${PORTAL_API}/members/:memberId/second-factor`,
  tag: 'Second factor',
  summary: 'Reset the second factor of a member',
  description:
    'For one who has lost the device: removes the authenticator app, its recovery codes, and all passkeys. Ends all sessions of the member.',
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

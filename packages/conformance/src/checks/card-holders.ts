import { type Check, decided, refuses, specified } from '../check.ts'
import { at, wantRefused, wantStatus, wantValue } from '../expect.ts'
import { skip } from '../subject.ts'
import { issued } from './create-card.ts'

export const HOLDER_CHECKS: readonly Check[] = [
  specified(
    '4.3.userId',
    '§4.3, userId',
    'A card for a user of the company carries that userId',
    async (s) => {
      const userId = s.partner().userId ?? skip('the credentials of incentivePartner have no userId')
      const response = await s.createCard(s.orderOf('incentivePartner', { userId }))
      wantStatus(response, 200)
      wantValue(response, 'payload.userId', userId)
    },
  ),
  decided(
    '4.3.userId.same-mobile',
    'decision C9',
    'Without userId the holder is found by mobile',
    async (s) => {
      const { order, response: reply } = await issued(s)
      const again = await s.createCard(s.orderOf('incentivePartner', { mobile: order['mobile'] }))
      wantValue(again, 'payload.userId', at(reply, 'payload.userId') as string)
    },
  ),
  decided(
    '4.3.userId.same-email',
    'decision C9',
    'Without userId and mobile the holder is found by e-mail',
    async (s) => {
      const { order, response: reply } = await issued(s)
      const again = await s.createCard(s.orderOf('incentivePartner', { email: order['email'] }))
      wantValue(again, 'payload.userId', at(reply, 'payload.userId') as string)
    },
  ),
  specified(
    '4.3.least',
    '§4.3, required fields',
    'companyId and cardAccountId alone make a card',
    async (s) => wantStatus(await s.createCard(s.orderOf()), 200),
  ),
  ...refuses('4.3.userId.unknown', '§4.3, userId', 'An unknown userId makes no card', (s) =>
    s.createCard(s.orderOf('incentivePartner', { userId: 'usr_00000000000000000000000000' })),
  ),
  decided('4.3.userId.foreign', 'decision C9', 'A user of another company makes no card', async (s) => {
    const userId = s.partner('otherPartner').userId ?? skip('the credentials of otherPartner have no userId')
    wantRefused(await s.createCard(s.orderOf('incentivePartner', { userId })))
  }),
]

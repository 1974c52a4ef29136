import { type Client, payloadOf } from './client.ts'
import type { TestPartner } from './partner.ts'

const ACCOUNTS = '/api/v0/partner/card-accounts'

/** A card account whose cards are loaded again and may be unloaded: the partner with it, and the number to fund it by. */
export async function newMealAccount<P extends TestPartner>(
  client: Client,
  partner: P,
): Promise<{ meal: P; virtualAccountNumber: string }> {
  const { cardAccountId } = payloadOf(
    await client.post(ACCOUNTS, {
      companyId: partner.companyId,
      product: 'incentive',
      accountType: 'MEAL',
      binType: 'MEAL',
      cardProgramme: 'Meal cards',
      denomination: 500,
      unallocateFundAllowed: true,
    }),
  )
  const instructions = await client.get(`${ACCOUNTS}/${cardAccountId}/funding-instructions`)
  const { virtualAccountNumber } = payloadOf(instructions)
  return { meal: { ...partner, cardAccountId }, virtualAccountNumber }
}

/** Loads a card again, and unloads it. */
export async function loadAndUnload(client: Client, svcCardId: string): Promise<void> {
  const path = `/api/v0/partner/svcCard/${svcCardId}`
  const [load, unload] = [
    { amount: 50, referenceNumber: `load-${svcCardId}` },
    { amount: 20, referenceNumber: `unload-${svcCardId}` },
  ]
  payloadOf(await client.post(`${path}/loads`, load))
  payloadOf(await client.post(`${path}/unloads`, unload))
}

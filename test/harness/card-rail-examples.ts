import { type Callers, cardExamples } from './card-examples.ts'
import { payloadOf } from './client.ts'
import { createCard } from './partner.ts'
import type { Recorder } from './recorder.ts'

/** The messages of the card network, each once; `open` has no credentials of its own. */
export async function recordCardRail(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer, open, partner } = callers
  const { token } = payloadOf(await createCard(issuer, partner))
  const message = (stan: string, fields: object) => ({
    body: { token, acquirerId: '400123', stan, transmissionTime: '2026-04-01T09:34:05.000Z', ...fields },
  })
  const shop = { rrn: '609134000042', mcc: '5411', merchantName: 'Corner Shop', merchantPlace: 'Pune' }
  const requested = message('000042', { amount: 120.5, channel: 'pos', ...shop })
  const { authorizationId } = payloadOf(await recorder.works('authorizeCard', 'A hold', open, requested))
  const captured = message('000043', { amount: 100, authorizationId, rrn: shop.rrn })
  const { messageId: captureId } = payloadOf(
    await recorder.works('captureCard', 'A part of it', open, captured),
  )
  await recorder.works('voidCard', 'The rest is released', open, message('000044', { authorizationId }))
  await recorder.works('refundCard', 'A part comes back', open, message('000045', { amount: 20, captureId }))
  const forced = message('000046', { advice: 'forced_post', amount: 15 })
  await recorder.works('adviseCard', 'Captured while the network stood in', open, forced)
  await recorder.works('inquireCardBalance', 'What is left', open, message('000047', {}))
  await recorder.works('receiveNetworkSettlement', 'A capture, and what the network pays for it', open, {
    body: {
      batchUtr: 'NPCIN526001',
      valueDate: '2026-04-02',
      netAmount: '-98.50',
      lines: [
        { kind: 'capture', reference: shop.rrn, amount: '-100.00', date: '2026-04-01' },
        { kind: 'interchange', amount: '1.50' },
      ],
    },
  })
  await cardExamples(recorder, callers)
}

import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { Services } from '../http/operation.ts'
import type { Examples } from '../http/worked-examples.ts'
import { railKeys } from '../rails/authenticate-rail.ts'
import type { Request } from './live-values.ts'

const OF_BANK = new Set(['acceptPayment', 'confirmRefund', 'receiveDispute', 'receiveSettlement'])

/** Requests of the card network for a card, each with an identity of its own. */
export function cardMessages(token: string, nowMs: number): Record<string, Request> {
  const transmissionTime = new Date(nowMs).toISOString()
  let last = nowMs
  const message = (fields: object): Request => {
    const stan = String(last++ % 1_000_000).padStart(6, '0')
    return { body: { token, acquirerId: '400123', stan, transmissionTime, ...fields } }
  }
  return {
    authorizeCard: message({ amount: 1, channel: 'pos', merchantName: 'Corner Shop' }),
    captureCard: message({ amount: 1 }),
    voidCard: message({}),
    refundCard: message({ amount: 1 }),
    adviseCard: message({ advice: 'forced_post', amount: 1 }),
    inquireCardBalance: message({}),
  }
}

/** What bank and card network send, signed over the text that "Test Request" sends and the one in the code samples. */
export function signedExamples(examples: Examples, services: Services): Examples {
  const [bankKey] = railKeys(services, 'upi')
  const [transferKey] = railKeys(services, 'bank')
  const [networkKey] = railKeys(services, 'cards')
  const ofNetwork = cardMessages('', 0)
  const nowMs = services.clock.now()
  return Object.fromEntries(
    Object.entries(examples).map(([id, list]) => {
      const key = OF_BANK.has(id)
        ? bankKey
        : id === 'receiveBankCredit'
          ? transferKey
          : id in ofNetwork || id === 'receiveNetworkSettlement'
            ? networkKey
            : undefined
      return [id, key === undefined ? list : signedList(list, key, nowMs)]
    }),
  )
}

type List = Examples[string]

function signedList(list: List, key: string, nowMs: number): List {
  return list.map((example) => {
    if (example.status >= 400) return example
    const { body } = example.request
    const [sent = '', shown = ''] = [JSON.stringify(body), JSON.stringify(body, null, 2)].map((text) =>
      signNotice(Buffer.from(text), key, nowMs),
    )
    const signature = `${sent},${shown.replace(/^t=\d+,/, '')}`
    const headers = { ...example.request.headers, [SIGNATURE_HEADER]: signature }
    return { ...example, request: { ...example.request, headers } }
  })
}

import { type Check, decided } from '../check.ts'
import { at, fail, wantFailure, wantStatus, wantValue } from '../expect.ts'

const refusesLoad = (name: string, what: string, loadAmount: unknown, status: number, word: string): Check =>
  decided(`4.3.loadAmount.${name}`, 'decisions C6, C7', `loadAmount: ${what} is refused`, async (s) =>
    wantFailure(await s.createCard({ ...s.orderOf(), loadAmount }), status, word),
  )

export const LOAD_CHECKS: readonly Check[] = [
  ...(['2', 2] as const).map((loadAmount) =>
    decided(
      `4.3.loadAmount.${typeof loadAmount}`,
      'decisions C6, C8',
      `loadAmount as a ${typeof loadAmount} is accepted, and returned as text`,
      async (s) => wantValue(await s.createCard({ ...s.orderOf(), loadAmount }), 'payload.loadAmount', '2'),
    ),
  ),
  refusesLoad('zero', '0', '0', 400, 'validation_failed'),
  refusesLoad('negative', 'less than 0', '-1', 400, 'validation_failed'),
  refusesLoad('paise', 'a part of a rupee', '1.50', 400, 'validation_failed'),
  refusesLoad('words', 'what is no number', 'ten', 400, 'validation_failed'),
  refusesLoad('over', 'more than 10,000 rupees', '10001', 422, 'load_over_limit'),
  decided(
    '4.3.loadAmount.absent',
    'decision C6',
    'Without loadAmount a card is loaded with whole rupees, the denomination of its account',
    async (s) => {
      const { loadAmount: _, ...order } = s.orderOf()
      const response = await s.createCard(order)
      wantStatus(response, 200)
      if (!/^[1-9]\d*$/.test(String(at(response, 'payload.loadAmount'))))
        fail(response, 'payload.loadAmount: whole rupees', String(at(response, 'payload.loadAmount')))
    },
  ),
]

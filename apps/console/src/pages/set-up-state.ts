import { queryOptions } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'

export type SetUp = Schemas['SetUp']

export const setUpQuery = (partnerId: string) =>
  queryOptions({
    queryKey: ['partners', partnerId, 'set-up'],
    queryFn: () => responseOf(api.GET('/partners/{partnerId}/set-up', { params: { path: { partnerId } } })),
  })

export const STEPS = [
  'Partner',
  'Company and account',
  'Encryption key',
  'Funding',
  'First card, hand-over',
] as const

export interface PartnerChoices {
  /** `shared`: the hand-over issues a key. `own`: the partner encrypts to the service’s published keys. */
  readonly key?: string | undefined
  /** `later`: money comes later, and so does the card. */
  readonly funding?: string | undefined
}

/** The step that is to be done next: what the service has decides, so that leaving and coming back is the same. */
export function stepOf(setUp: SetUp | undefined, { key, funding }: PartnerChoices): number {
  if (!setUp) return 0
  const { next, handedOver } = setUp
  if (next === undefined) return STEPS.length
  if (next === 'company' || next === 'cardAccount') return 1
  if (!handedOver && key === undefined) return 2
  return next === 'funding' && funding !== 'later' ? 3 : 4
}

import type { Commands } from '@svc/platform/command'
import type { WaitingApproval } from '../../ledger/money-command.ts'
import { type ChangedPayout, changePayout, type PayoutStep } from './change-payout.ts'
import type { Payout } from './payout.ts'

/** Who acts: an operator by the console or the command line. */
export interface By {
  readonly actor: string
  readonly requestId?: string
}

/** Takes steps of payouts, audited under who takes them; that one failed may wait for a second person. */
export function stepTaker(commands: Commands) {
  const { run } = commands.open(changePayout)
  return (
    { merchantId, payoutId }: Pick<Payout, 'merchantId' | 'payoutId'>,
    step: PayoutStep,
    by: By,
  ): Promise<ChangedPayout | WaitingApproval> =>
    run(
      { merchantId, payoutId, step },
      { ...by, action: `payout.${step.to.toLowerCase()}`, target: payoutId, tenantId: merchantId },
    )
}

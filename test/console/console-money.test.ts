import { inBrowser } from './bed.ts'
import { coinConfigs } from './coin-configs.ts'
import { dialogs, oneProof } from './dialogs.ts'
import { exceptions, settledAccounts } from './exceptions.ts'
import { amounts } from './finance.ts'
import { journals } from './journals.ts'
import { cardAccountMoney, cardLoads, cards, coinVoids, payments } from './money.ts'
import { approvals, outcomeApprovals, outcomes } from './outcomes.ts'
import { bankFiles, payoutApproval, payoutOutcomes, payoutRuns, payouts } from './payouts.ts'
import { returnedCredits, suspense } from './suspense.ts'

inBrowser('money in the console', {
  filled: [
    amounts,
    payouts,
    payoutApproval,
    payoutOutcomes,
    payoutRuns,
    bankFiles,
    suspense,
    returnedCredits,
    approvals,
    outcomeApprovals,
    outcomes,
    exceptions,
    settledAccounts,
    journals,
    payments,
    cardAccountMoney,
    cards,
    cardLoads,
    coinVoids,
    coinConfigs,
    dialogs,
    oneProof,
  ],
})

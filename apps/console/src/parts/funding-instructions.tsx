import { Text } from '@mantine/core'
import { CopyWide } from './copy.tsx'
import { Id } from './object-link.tsx'
import { Facts, Section } from './page.tsx'

interface Instructions {
  readonly virtualAccountNumber: string
  readonly ifsc: string
  readonly beneficiaryName: string
  readonly bankName: string
  readonly modes: readonly string[]
}

/** Where money for a card account is transferred, to be copied into a bank's form or a letter. */
export function FundingInstructions({ of }: { readonly of: Instructions }) {
  const { virtualAccountNumber, ifsc, beneficiaryName, bankName, modes } = of
  const lines = [
    `Beneficiary: ${beneficiaryName}`,
    `Account number: ${virtualAccountNumber}`,
    `IFSC: ${ifsc}`,
    `Bank: ${bankName}`,
  ]
  return (
    <Section title="Funding instructions" aside={<CopyWide text={lines.join('\n')} what="instructions" />}>
      <Text size="sm" c="dimmed" mb="xs">
        What is transferred to this account number is on the card account once the bank has notified it.
      </Text>
      <Facts
        facts={[
          { label: 'Account number', value: <Id id={virtualAccountNumber} what="account number" /> },
          { label: 'IFSC', value: <Id id={ifsc} what="IFSC" /> },
          { label: 'Beneficiary', value: beneficiaryName },
          { label: 'Bank', value: bankName },
          { label: 'By', value: modes.join(', ') },
        ]}
      />
    </Section>
  )
}

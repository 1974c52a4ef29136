import { Modal } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { stepUp } from '../api.ts'

/** Over other dialogs, whose request waits for it. */
const Z_INDEX = 400

export interface ProofProps {
  readonly confirmed: () => void
  readonly cancelled: () => void
}

/** Asks for the proof again when something needs a recent sign-in; the requested action then goes on. */
export function StepUpDialog({ Proof }: { readonly Proof: (props: ProofProps) => ReactNode }) {
  const [resolve, setResolve] = useState<(confirmed: boolean) => void>()
  useEffect(() => {
    stepUp.confirm = () => new Promise<boolean>((settle) => setResolve(() => settle))
    return () => {
      stepUp.confirm = undefined
    }
  }, [])
  const end = (confirmed: boolean) => {
    resolve?.(confirmed)
    setResolve(undefined)
  }
  return (
    <Modal
      opened={resolve !== undefined}
      onClose={() => end(false)}
      title="Confirm that it is you"
      zIndex={Z_INDEX}
    >
      <Proof confirmed={() => end(true)} cancelled={() => end(false)} />
    </Modal>
  )
}

import { Modal } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { Question } from '../question.ts'

/** Over other dialogs, whose request waits for it. */
const Z_INDEX = 400

export interface ProofProps {
  readonly confirmed: () => void
  readonly cancelled: () => void
}

interface QuestionDialogProps {
  readonly question: Question
  readonly title: string
  readonly Proof: (props: ProofProps) => ReactNode
  /** It hides the page, and is not closed but by what it offers. */
  readonly covers?: true
}

/** Asks when a request needs it; the requested action then goes on. */
export function QuestionDialog({ question, title, Proof, covers }: QuestionDialogProps) {
  const [resolve, setResolve] = useState<(confirmed: boolean) => void>()
  useEffect(() => {
    question.dialog = () => new Promise<boolean>((settle) => setResolve(() => settle))
    return () => {
      question.dialog = undefined
    }
  }, [question])
  const end = (confirmed: boolean) => {
    resolve?.(confirmed)
    setResolve(undefined)
  }
  return (
    <Modal
      opened={resolve !== undefined}
      onClose={() => end(false)}
      title={title}
      zIndex={Z_INDEX}
      fullScreen={covers === true}
      withCloseButton={!covers}
      closeOnEscape={!covers}
    >
      <Proof confirmed={() => end(true)} cancelled={() => end(false)} />
    </Modal>
  )
}

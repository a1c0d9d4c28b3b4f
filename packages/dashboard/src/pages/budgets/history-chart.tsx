import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatUsd, microsToUsd } from '../../api/format.ts';
import { useTheme } from '../../shell/theme.ts';
import type { Period } from './budget-model.ts';
import type { HistorySlot } from './history-model.ts';
import { amountsOf, describeSlot, slotLabel } from './history-model.ts';

interface HistoryChartProps {
  readonly slots: readonly HistorySlot[];
  readonly period: Period;
  readonly label: string;
}

const height = 180;

/** Columns for spend, a line for the cap. Draws nothing for periods without a record. */
export function HistoryChart(props: HistoryChartProps) {
  // Redrawn for another theme, because it uses the theme's colours.
  return <Chart key={useTheme()} {...props} />;
}

function Chart({ slots, period, label }: HistoryChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const tell = (index: number | null | undefined) => {
      const slot = slots[index ?? slots.length - 1];
      if (words.current === null || slot === undefined) return;
      words.current.textContent = `${slotLabel(slot.at, period)}: ${describeSlot(slot)}`;
    };
    const chart = new uPlot(optionsOf(element.clientWidth, slots, period, tell), dataOf(slots), element);
    tell(undefined);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [slots, period]);
  return (
    <figure>
      <div
        ref={box}
        role="img"
        aria-label={`${label}. The table below says the same.`}
        className="w-full overflow-hidden"
      />
      <figcaption className="flex flex-wrap justify-between gap-x-4 text-sm text-muted">
        <p ref={words} />
        <p>Columns: spent. Dashed line: cap.</p>
      </figcaption>
    </figure>
  );
}

function dataOf(slots: readonly HistorySlot[]): uPlot.AlignedData {
  const amounts = slots.map(amountsOf);
  return [
    slots.map((_, index) => index),
    amounts.map(({ spent }) => spent ?? null),
    amounts.map(({ limit }) => limit ?? null),
  ];
}

function optionsOf(
  width: number,
  slots: readonly HistorySlot[],
  period: Period,
  tell: (index: number | null | undefined) => void,
): uPlot.Options {
  const colour = (name: string) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--color-${name}`).trim();
  const axis = {
    stroke: colour('muted'),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: colour('border'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { setCursor: [({ cursor }) => tell(cursor.idx)] },
    scales: {
      x: { time: false, range: [-0.6, slots.length - 0.4] },
      // From zero to a little above the highest, so that column heights are comparable.
      y: { range: (_, __, most) => [0, Math.max(most * 1.08, 10_000)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        incrs: [1, 2, 5, 7, 10, 14],
        space: 56,
        values: (_, splits) =>
          splits.map((index) => (slots[index] === undefined ? '' : slotLabel(slots[index].at, period, true))),
      },
      { ...axis, size: 64, values: (_, splits) => splits.map((micros) => formatUsd(microsToUsd(micros))) },
    ],
    series: [
      {},
      {
        fill: colour('accent'),
        stroke: colour('accent'),
        width: 0,
        points: { show: false },
        ...pathOf(uPlot.paths.bars?.({ size: [0.7, 40], align: 0 })),
      },
      {
        stroke: colour('danger'),
        width: 1.5,
        dash: [5, 4],
        spanGaps: false,
        points: { show: slots.length === 1 },
        ...pathOf(uPlot.paths.stepped?.({ align: 1 })),
      },
    ],
  };
}

function pathOf(paths: uPlot.Series.PathBuilder | undefined) {
  return paths === undefined ? {} : { paths };
}

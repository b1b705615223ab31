// Categories and labels by id, for whatever shows their names.
import { useMemo } from "react";
import { journal, type Category, type Label, type Page } from "../../api/journal";
import { useGet } from "../../api/store";

export interface Sets {
  categories: Category[];
  labels: Label[];
  category: (id: string | undefined) => Category | undefined;
  label: (id: string) => Label | undefined;
}
const NONE: never[] = [];

export function useSets(): Sets {
  const categories = useGet<Page<Category>>(journal.categories).data?.items ?? NONE;
  const labels = useGet<Page<Label>>(journal.labels).data?.items ?? NONE;
  return useMemo(() => {
    const byCategory = new Map(categories.map((one) => [one.id, one]));
    const byLabel = new Map(labels.map((one) => [one.id, one]));
    return { categories, labels, category: (id) => (id ? byCategory.get(id) : undefined), label: (id) => byLabel.get(id) };
  }, [categories, labels]);
}
